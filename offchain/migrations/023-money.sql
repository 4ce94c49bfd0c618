-- What is money is told by more than before: contracts that don't say by ERC-165 what they are are asked once more.
update contract_metadata
set
  due_at = now(),
  attempts = 0
where
  erc165_type is null
  and due_at is null;
