import { MULTICALL3_ADDRESS } from "../abis/multicall3.ts";
import { encodeDeployment } from "../demo/artifacts.ts";
import { createRequest } from "./chain.ts";

/** Puts Multicall3 on a chain of a test, where every chain has it. */
export async function putMulticall3(rpcUrl: string): Promise<void> {
  const request = createRequest(rpcUrl);
  // Called instead of sent, the creation code answers the code that stays.
  const code = await request("eth_call", { data: encodeDeployment("Multicall3") }, "latest");
  await request("anvil_setCode", MULTICALL3_ADDRESS, code);
}
