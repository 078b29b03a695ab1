/**
 * What a request costs, in millionths of a US dollar (specification, section 4). Integers, because
 * `0.025 * 1e6` is not 25000 in floating point.
 */
export const priceList = {
  '/api/data/crypto': 20_000n,
  '/api/data/weather': 10_000n,
  '/api/data/stock': 20_000n,
  '/api/data/news': 25_000n,
  '/api/tools/qrcode': 5_000n,
  '/api/tools/screenshot': 50_000n,
  '/api/tools/pdf': 80_000n,
  '/api/ai/chat': 50_000n,
} as const satisfies Record<string, bigint>

export type PaidPath = keyof typeof priceList

/** Decimals of a price in the list: 1 US dollar is 1,000,000. */
export const usdDecimals = 6
