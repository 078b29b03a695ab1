/** The providers of data. `<NAME>_URL` replaces a provider's public address. */
export const upstreamNames = [
  'COINGECKO',
  'COINPAPRIKA',
  'KRAKEN',
  'MET_NORWAY',
  'OPEN_METEO',
  'OPEN_METEO_GEOCODING',
  'YAHOO',
  'TWELVE_DATA',
  'EODHD',
  'GDELT',
  'GUARDIAN',
  'JUPITER',
  'DEXSCREENER',
  'GECKOTERMINAL',
] as const

export type UpstreamName = (typeof upstreamNames)[number]

/** Providers that take a key, in `<NAME>_API_KEY`. */
export const keyedUpstreamNames = [
  'COINGECKO',
  'COINPAPRIKA',
  'OPEN_METEO',
  'TWELVE_DATA',
  'EODHD',
  'GUARDIAN',
  'JUPITER',
] as const satisfies readonly UpstreamName[]

/** The operator's configuration of one provider. */
export interface UpstreamConfig {
  /** Undefined: the provider's public address. */
  readonly url?: string | undefined
  readonly apiKey?: string | undefined
}

/** Configuration by provider. A provider that is absent has no configuration. */
export type UpstreamConfigs = Readonly<Partial<Record<UpstreamName, UpstreamConfig>>>

/**
 * Returns the operator's address, or the provider's public one. An operator's address without a path replaces only the
 * host, so that a relay or a test server can be named without the provider's paths.
 */
export function baseUrlOf(setting: UpstreamConfig | undefined, publicBase: string): URL {
  const base = new URL(publicBase)
  if (setting?.url === undefined) return base
  const given = new URL(setting.url)
  if (given.pathname === '/') given.pathname = base.pathname
  return given
}
