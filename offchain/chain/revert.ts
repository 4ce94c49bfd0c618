/** Codes and messages by which nodes say that the contract itself reverted. There is no common code. */
const REVERT_CODES = new Set([3, -32_015]);
const REVERT_MESSAGE =
  /revert|invalid opcode|opcode .* not|bad instruction|bad jump|invalid jump|out ?of ?gas|gas required exceeds|stack (under|over)flow|vm execution|evm error|execution (error|failed)|return ?data out of bounds|max code size|precompile/i;

/** Whether an error is a revert, which every node would answer, and not a fault of this node. */
export function isRevert({ code, message }: { code: number; message: string }): boolean {
  return REVERT_CODES.has(code) || REVERT_MESSAGE.test(message);
}

/** What a node says of a revert, if anything: the contract's reason, or that the gas ran out which this node gives. */
export function tellRevert(message: unknown): string {
  const said = typeof message === "string" ? message : "";
  const reason = said.replace(
    /^(?:vm exception while processing transaction: )?(?:execution )?revert(?:ed)?:?\s*/i,
    "",
  );
  return reason === "" ? "reverts." : `reverts: ${reason.slice(0, 200)}`;
}
