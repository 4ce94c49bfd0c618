-- A function was remembered where it had led to no document: other tokens of the contract were then asked by it alone.
-- What works is remembered again with the next document.
update contract_metadata set uri_function = null where uri_function is not null;
