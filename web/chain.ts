/** What people call a chain, its own currency, and where they look up its transactions and addresses. */
type Chain = {
  name: string;
  /** ETH where it isn't given. */
  symbol?: string;
  /** The origin of a block explorer that has `/tx/HASH` and `/address/ADDRESS`. */
  explorer?: string;
};

/** Chains by their ids. Source: each chain's own documentation; a test compares it with viem's list, which loads for a second. */
const CHAINS: Record<number, Chain> = {
  1: { name: "Ethereum", explorer: "https://etherscan.io" },
  10: { name: "OP Mainnet", explorer: "https://optimistic.etherscan.io" },
  56: { name: "BNB Smart Chain", symbol: "BNB", explorer: "https://bscscan.com" },
  97: { name: "BNB Smart Chain Testnet", symbol: "BNB", explorer: "https://testnet.bscscan.com" },
  100: { name: "Gnosis", symbol: "xDAI", explorer: "https://gnosisscan.io" },
  130: { name: "Unichain", explorer: "https://uniscan.xyz" },
  137: { name: "Polygon", symbol: "POL", explorer: "https://polygonscan.com" },
  143: { name: "Monad", symbol: "MON", explorer: "https://monadscan.com" },
  324: { name: "ZKsync Era", explorer: "https://explorer.zksync.io" },
  360: { name: "Shape", explorer: "https://shapescan.xyz" },
  480: { name: "World Chain", explorer: "https://worldscan.org" },
  999: { name: "HyperEVM", symbol: "HYPE", explorer: "https://hyperevmscan.io" },
  1135: { name: "Lisk", explorer: "https://blockscout.lisk.com" },
  1301: { name: "Unichain Sepolia", explorer: "https://sepolia.uniscan.xyz" },
  1329: { name: "Sei Network", symbol: "SEI", explorer: "https://seiscan.io" },
  1868: { name: "Soneium Mainnet", explorer: "https://soneium.blockscout.com" },
  2020: { name: "Ronin", symbol: "RON", explorer: "https://app.roninchain.com" },
  2741: { name: "Abstract", explorer: "https://abscan.org" },
  8453: { name: "Base", explorer: "https://basescan.org" },
  31337: { name: "Local chain" },
  33139: { name: "ApeChain", symbol: "APE", explorer: "https://apescan.io" },
  34443: { name: "Mode Mainnet", explorer: "https://modescan.io" },
  42161: { name: "Arbitrum One", explorer: "https://arbiscan.io" },
  42170: { name: "Arbitrum Nova", explorer: "https://nova.arbiscan.io" },
  43113: { name: "Avalanche Fuji", symbol: "AVAX", explorer: "https://testnet.snowtrace.io" },
  43114: { name: "Avalanche", symbol: "AVAX", explorer: "https://snowtrace.io" },
  57073: { name: "Ink", explorer: "https://explorer.inkonchain.com" },
  59144: { name: "Linea Mainnet", explorer: "https://lineascan.build" },
  80002: { name: "Polygon Amoy", symbol: "POL", explorer: "https://amoy.polygonscan.com" },
  80094: { name: "Berachain", symbol: "BERA", explorer: "https://berascan.com" },
  81457: { name: "Blast", explorer: "https://blastscan.io" },
  84532: { name: "Base Sepolia", explorer: "https://sepolia.basescan.org" },
  421614: { name: "Arbitrum Sepolia", explorer: "https://sepolia.arbiscan.io" },
  534351: { name: "Scroll Sepolia", explorer: "https://sepolia.scrollscan.com" },
  534352: { name: "Scroll", explorer: "https://scrollscan.com" },
  7777777: { name: "Zora", explorer: "https://explorer.zora.energy" },
  11155111: { name: "Sepolia", explorer: "https://sepolia.etherscan.io" },
  11155420: { name: "OP Sepolia", explorer: "https://optimism-sepolia.blockscout.com" },
};

/** A chain's name; `Chain 1234` where we know none. */
export const chainName = (chainId: number): string => CHAINS[chainId]?.name ?? `Chain ${chainId}`;

/** The symbol of a chain's own currency. */
export const nativeSymbol = (chainId: number): string => CHAINS[chainId]?.symbol ?? "ETH";

/** Where a transaction or an address is looked up. Undefined for chains whose block explorer isn't known here. */
export function blockExplorerUrl(chainId: number, place: `tx/${string}` | `address/${string}`): string | undefined {
  const explorer = CHAINS[chainId]?.explorer;
  return explorer && `${explorer}/${place}`;
}
