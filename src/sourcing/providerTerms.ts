import type { ProviderName } from '../product/productFacts.ts'
import type { UpstreamName, UpstreamConfigs } from '../product/upstreamName.ts'

/** Whether a provider permits a use of its data by a paid service. docs/providers.md lists the sources. */
export type Permission =
  | 'permitted'
  /** Depends on the operator's plan with the provider. */
  | 'by_plan'
  | 'forbidden'
  /** The terms contain no statement about this use. */
  | 'unknown'

/** Permissions and duties from a provider's terms, as far as we have read the terms. */
export interface ProviderTerms {
  readonly commercialUse: Permission
  readonly resale: Permission
  /** Whether the provider needs a key. `required`: without a key, the provider is not used. */
  readonly key: 'none' | 'optional' | 'required'
  /** Providers that replace this provider. If the operator has set the keys of all of them, this provider is not used. */
  readonly until?: readonly UpstreamName[]
  /** Credit that every answer with the provider's data must contain. Absent: no credit is required. */
  readonly credit?: Credit
}

export type Credit = { readonly text: string; readonly url: string }

const unknown = { commercialUse: 'unknown', resale: 'unknown', key: 'none' } as const
const byPlan = { commercialUse: 'by_plan', resale: 'by_plan', key: 'optional' } as const
const permitted = { commercialUse: 'permitted', resale: 'permitted', key: 'none' } as const

/** Credit for the places of the bundled list of cities and of the geocoder. */
export const geoNamesCredit: Credit = { text: 'Places by GeoNames (CC BY 4.0)', url: 'https://www.geonames.org/' }

export const providerTerms: Readonly<Record<ProviderName, ProviderTerms>> = {
  COINGECKO: { ...byPlan, credit: { text: 'Data provided by CoinGecko', url: 'https://www.coingecko.com/' } },
  COINPAPRIKA: byPlan,
  KRAKEN: unknown,
  MET_NORWAY: { ...permitted, credit: { text: 'Data from MET Norway (CC BY 4.0)', url: 'https://www.met.no/' } },
  OPEN_METEO: {
    ...byPlan,
    credit: { text: 'Weather data by Open-Meteo.com (CC BY 4.0)', url: 'https://open-meteo.com/' },
  },
  OPEN_METEO_GEOCODING: { ...byPlan, credit: geoNamesCredit },
  YAHOO: { commercialUse: 'forbidden', resale: 'forbidden', key: 'none', until: ['TWELVE_DATA', 'EODHD'] },
  TWELVE_DATA: {
    ...byPlan,
    key: 'required',
    credit: { text: 'Data provided by Twelve Data', url: 'https://twelvedata.com/' },
  },
  EODHD: { ...byPlan, key: 'required' },
  GDELT: { ...permitted, credit: { text: 'The GDELT Project', url: 'https://www.gdeltproject.org/' } },
  GUARDIAN: { ...byPlan, key: 'required' },
  JUPITER: { ...unknown, key: 'optional' },
  DEXSCREENER: unknown,
  GECKOTERMINAL: unknown,
  NEWS_FEEDS: unknown,
  // The operator has a contract with the AI server. Chat is not sold without a configured server.
  AI: { commercialUse: 'permitted', resale: 'permitted', key: 'optional' },
}

/** True if the provider is used with this configuration: a required key is set, and the provider is not replaced. */
export function isAsked(name: ProviderName, upstreams: UpstreamConfigs): boolean {
  const { key, until } = providerTerms[name]
  const settings: Readonly<Partial<Record<ProviderName, { readonly apiKey?: string | undefined }>>> = upstreams
  const hasKey = (one: ProviderName) => settings[one]?.apiKey !== undefined
  return (key !== 'required' || hasKey(name)) && until?.every(hasKey) !== true
}

const byName: ReadonlyMap<string, ProviderTerms> = new Map(
  Object.entries(providerTerms).map(([name, terms]) => [plain(name), terms]),
)

/**
 * Normalizes a provider's name for comparison. Names have a dash or nothing in `meta.source`, and underscores in
 * variables.
 */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/**
 * Returns the credits that are due for data of these providers, without duplicates. `providers` are names as in
 * `meta.source`.
 */
export function creditsOf(providers: readonly string[]): readonly Credit[] {
  return [...new Set(providers.flatMap((name) => byName.get(plain(name))?.credit ?? []))]
}

/** Returns the member `credits` for `meta`. The member is absent if no credit is due. */
export function creditMeta(credits: readonly Credit[]): { readonly credits?: readonly Credit[] } {
  return credits.length === 0 ? {} : { credits }
}
