/** The providers of data. `<NAME>_URL` replaces the public address of one. */
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

/** A provider that is missing has no configuration. */
export type UpstreamConfigs = Readonly<Partial<Record<UpstreamName, UpstreamConfig>>>

/**
 * The provider's public base, or the operator's. An address without a path replaces the host only, so that the operator can
 * name a relay or a stand-in without knowing the provider's paths.
 */
export function baseUrlOf(setting: UpstreamConfig | undefined, publicBase: string): URL {
  const base = new URL(publicBase)
  if (setting?.url === undefined) return base
  const given = new URL(setting.url)
  if (given.pathname === '/') given.pathname = base.pathname
  return given
}
