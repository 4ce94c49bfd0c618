/** How nodes say that the contract itself failed; there is no common code for it. */
const REVERT_CODES = new Set([3, -32_015]);
const REVERT_MESSAGE =
  /revert|invalid opcode|opcode .* not|bad instruction|bad jump|invalid jump|out ?of ?gas|gas required exceeds|stack (under|over)flow|vm execution|evm error|execution (error|failed)|return ?data out of bounds|max code size|precompile/i;

/** Whether the error of a call is the contract's, which every node would say, and not this node's own. */
export function isRevert({ code, message }: { code: number; message: string }): boolean {
  return REVERT_CODES.has(code) || REVERT_MESSAGE.test(message);
}
