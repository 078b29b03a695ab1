/** docs/providers.md explains these permissions. */
export type Permission =
  | 'permitted'
  /** Depends on the operator's plan with the provider. */
  | 'by_plan'
  | 'forbidden'
  /** The terms contain no statement about this use. */
  | 'unknown'

interface ProviderTerms<Name extends string> {
  readonly commercialUse: Permission
  readonly resale: Permission
  /** Key in `<NAME>_API_KEY`. `required`: without a key, the provider is not used. */
  readonly key: 'none' | 'optional' | 'required'
  /** If the operator has set the keys of all these providers, they replace this provider. */
  readonly until?: readonly Name[]
  /** Every answer with the provider's data must contain it. Absent: no credit is required. */
  readonly credit?: Credit
}

export type Credit = { readonly text: string; readonly url: string }

const unknown = { commercialUse: 'unknown', resale: 'unknown', key: 'none' } as const
const byPlan = { commercialUse: 'by_plan', resale: 'by_plan', key: 'optional' } as const
const permitted = { commercialUse: 'permitted', resale: 'permitted', key: 'none' } as const

export const geoNamesCredit: Credit = { text: 'Places by GeoNames (CC BY 4.0)', url: 'https://www.geonames.org/' }

/** The variable `<NAME>_URL` replaces the public address. To add a provider, add it here. */
const upstreamTerms = {
  COINGECKO: { ...byPlan, credit: { text: 'Data provided by CoinGecko', url: 'https://www.coingecko.com/' } },
  COINPAPRIKA: byPlan,
  KRAKEN: unknown,
  MET_NORWAY: { ...permitted, credit: { text: 'Data from MET Norway (CC BY 4.0)', url: 'https://www.met.no/' } },
  OPEN_METEO: {
    ...byPlan,
    credit: { text: 'Weather data by Open-Meteo.com (CC BY 4.0)', url: 'https://open-meteo.com/' },
  },
  // Uses the key of OPEN_METEO.
  OPEN_METEO_GEOCODING: { ...byPlan, key: 'none', credit: geoNamesCredit },
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
} as const satisfies Readonly<Record<string, ProviderTerms<string>>>

export type UpstreamName = keyof typeof upstreamTerms
export const upstreamNames = Object.keys(upstreamTerms).filter((name): name is UpstreamName => name in upstreamTerms)

/** `AI`: both chat servers (`AI_BASE_URL` and `AI_FALLBACK_BASE_URL`). `NEWS_FEEDS`: all feeds of publishers. */
export type ProviderName = UpstreamName | 'AI' | 'NEWS_FEEDS'

export const providerTerms: Readonly<Record<ProviderName, ProviderTerms<UpstreamName>>> = {
  ...upstreamTerms,
  NEWS_FEEDS: unknown,
  // The operator has a contract with the AI server. Chat is not sold without a configured server.
  AI: { commercialUse: 'permitted', resale: 'permitted', key: 'optional' },
}

export interface UpstreamConfig {
  readonly url?: string | undefined
  readonly apiKey?: string | undefined
}

export type UpstreamConfigs = Readonly<Partial<Record<UpstreamName, UpstreamConfig>>>

export function isAsked(name: ProviderName, upstreams: UpstreamConfigs): boolean {
  const { key, until } = providerTerms[name]
  const settings: Readonly<Partial<Record<ProviderName, { readonly apiKey?: string | undefined }>>> = upstreams
  const hasKey = (one: ProviderName) => settings[one]?.apiKey !== undefined
  return (key !== 'required' || hasKey(name)) && until?.every(hasKey) !== true
}

const creditByName: ReadonlyMap<string, Credit | undefined> = new Map(
  Object.entries(providerTerms).map(([name, { credit }]) => [plain(name), credit]),
)

/** Names have a dash or nothing in `meta.source`, and underscores in variables. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

export function creditsOf(providers: readonly string[]): readonly Credit[] {
  return [...new Set(providers.flatMap((name) => creditByName.get(plain(name)) ?? []))]
}

export function creditMeta(credits: readonly Credit[]): { readonly credits?: readonly Credit[] } {
  return credits.length === 0 ? {} : { credits }
}
