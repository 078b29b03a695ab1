/**
 * Mints of dollar and euro stablecoins. A service that burns a part of each payment would make callers destroy money.
 * USDC, USDT, USDG, PYUSD, CASH and the mints of devnet are from the default assets of `@x402/svm` 2.27.0 and
 * `@solana/mpp` 0.6.0. The others are from the list `tokens_solana_spl_stablecoins_core` of duneanalytics/spellbook,
 * read in November 2026. The list is incomplete and catches only common mistakes. A mint that is not in the list may
 * still be a stablecoin.
 */
export const stablecoinMints: ReadonlyMap<string, string> = new Map([
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC'],
  ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT'],
  ['2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', 'USDG'],
  ['2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 'PYUSD'],
  ['CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH', 'CASH'],
  ['USD1ttGY1N17NEEHLmELoaybftRBUSErhqYiQzvEmuB', 'USD1'],
  ['USDSwr9ApdHk5bvJKMjzff41FfuX8bSxdKcR81vTwcA', 'USDS'],
  ['9zNQRsGLjNKwCUU5Gq5LR8beUCPzQMVMqKAi3SSZh54u', 'FDUSD'],
  ['DEkqHyPN7GMRJ5cArtQFAWefqbZb33Hyf6s5iCwjEonT', 'USDe'],
  ['HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr', 'EURC'],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'USDC of devnet'],
  ['4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7', 'USDG of devnet'],
  ['CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM', 'PYUSD of devnet'],
])
