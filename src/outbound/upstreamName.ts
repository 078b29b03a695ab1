/** Everybody we ask for data. The name is also that of the setting: `<NAME>_URL`, `<NAME>_API_KEY`. */
export const upstreamNames = [
  'COINGECKO',
  'COINPAPRIKA',
  'COINBASE',
  'KRAKEN',
  'MET_NORWAY',
  'OPEN_METEO',
  'OPEN_METEO_GEOCODING',
  'NWS',
  'YAHOO',
  'STOOQ',
  'NASDAQ',
  'TWELVE_DATA',
  'GDELT',
  'HN_ALGOLIA',
  'GUARDIAN',
  'JUPITER',
  'DEXSCREENER',
  'GECKOTERMINAL',
] as const

export type UpstreamName = (typeof upstreamNames)[number]

/** What the operator says of one of them. */
export interface UpstreamSetting {
  /** Undefined: the provider's public address. */
  readonly url?: string | undefined
  readonly apiKey?: string | undefined
}

/** A provider that is not named has nothing special about it. */
export type UpstreamSettings = Readonly<Partial<Record<UpstreamName, UpstreamSetting>>>

/**
 * Where a provider is reached: its public base, or the operator's. An address without a path replaces the host only, so
 * that a relay or a stand-in can be named without knowing the provider's paths.
 */
export function baseUrlOf(setting: UpstreamSetting | undefined, publicBase: string): URL {
  const base = new URL(publicBase)
  if (setting?.url === undefined) return base
  const given = new URL(setting.url)
  if (given.pathname === '/') given.pathname = base.pathname
  return given
}
