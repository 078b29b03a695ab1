import type { ProviderName } from '../product/productFacts.ts'
import type { UpstreamName, UpstreamConfigs } from '../product/upstreamName.ts'

/** Permission of a provider for a service that sells its data. docs/providers.md lists the sources. */
export type Permission =
  | 'permitted'
  /** Depends on the plan of the operator's key. */
  | 'by_plan'
  | 'forbidden'
  /** We found no statement. */
  | 'unknown'

/** Permissions and duties in a provider's terms, as far as we have read them. */
export interface ProviderTerms {
  readonly commercialUse: Permission
  readonly resale: Permission
  /** `required`: without a key the provider is not used. */
  readonly key: 'none' | 'optional' | 'required'
  /** Keys of the providers that replace this one. If all of them are set, this provider is not used. */
  readonly until?: readonly UpstreamName[]
  /** Credit that every answer with its data must carry. */
  readonly credit?: Credit
}

export type Credit = { readonly text: string; readonly url: string }

const unknown = { commercialUse: 'unknown', resale: 'unknown', key: 'none' } as const
const byPlan = { commercialUse: 'by_plan', resale: 'by_plan', key: 'optional' } as const
const permitted = { commercialUse: 'permitted', resale: 'permitted', key: 'none' } as const

/** Credit for places of the bundled list and of the geocoder. */
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
  // The operator has a contract with the server. Without a server no chat is sold.
  AI: { commercialUse: 'permitted', resale: 'permitted', key: 'optional' },
}

/** True if a provider is used with this configuration. */
export function isAsked(name: ProviderName, upstreams: UpstreamConfigs): boolean {
  const { key, until } = providerTerms[name]
  const settings: Readonly<Partial<Record<ProviderName, { readonly apiKey?: string | undefined }>>> = upstreams
  const hasKey = (one: ProviderName) => settings[one]?.apiKey !== undefined
  return (key !== 'required' || hasKey(name)) && until?.every(hasKey) !== true
}

const byName: ReadonlyMap<string, ProviderTerms> = new Map(
  Object.entries(providerTerms).map(([name, terms]) => [plain(name), terms]),
)

/** Makes names comparable: `meta.source` has dashes or nothing where variables have underscores. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

/** Returns the credits that are due for data of these providers, without duplicates. Names are those of `meta.source`. */
export function creditsOf(providers: readonly string[]): readonly Credit[] {
  return [...new Set(providers.flatMap((name) => byName.get(plain(name))?.credit ?? []))]
}

/** Returns the member `credits` of `meta`; absent if no credit is due. */
export function creditMeta(credits: readonly Credit[]): { readonly credits?: readonly Credit[] } {
  return credits.length === 0 ? {} : { credits }
}
