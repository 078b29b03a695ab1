/** Names of the data providers. The variable `<NAME>_URL` replaces a provider's public address. */
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

/** Providers that accept a key, which is in the variable `<NAME>_API_KEY`. */
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
  /** The operator's address for this provider. Undefined: use the provider's public address. */
  readonly url?: string | undefined
  readonly apiKey?: string | undefined
}

/** Configuration by provider. Absent: the operator did not configure the provider. */
export type UpstreamConfigs = Readonly<Partial<Record<UpstreamName, UpstreamConfig>>>

/**
 * Returns the operator's address, or else the provider's public address. If the operator's address has no path, it
 * replaces only the host. A relay or test server can thus be configured without knowing the provider's paths.
 */
export function baseUrlOf(setting: UpstreamConfig | undefined, publicBase: string): URL {
  const base = new URL(publicBase)
  if (setting?.url === undefined) return base
  const given = new URL(setting.url)
  if (given.pathname === '/') given.pathname = base.pathname
  return given
}
