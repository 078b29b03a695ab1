/** CAIP-2 and references to payments and their evidence use this name. */
export const chainName = 'solana'

/** CAIP-2 names of the public networks: the chain and 32 characters of the genesis hash. The keys are Solana's clusters. */
export const networks = {
  'mainnet-beta': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  testnet: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z',
} as const

export const mainnet = networks['mainnet-beta']

/** Undefined for a private chain. */
export function networkOf(cluster: string): string | undefined {
  return Object.entries(networks).find(([name]) => name === cluster)?.[1]
}

/** Undefined for a private chain. */
export function clusterOf(network: string): string | undefined {
  return Object.entries(networks).find(([, name]) => name === network)?.[0]
}
