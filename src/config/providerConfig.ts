import { z } from 'zod'
import { providerTerms, type UpstreamConfig, type UpstreamConfigs, upstreamNames } from '../product/providerTerms.ts'
import { outputTokensMost, parseModelPrices } from '../pricing/modelPrices.ts'
import { parseMeteredPrices } from '../pricing/parseMeteredPrices.ts'
import { handlerTimeoutMs } from './saleConfig.ts'
import { complete, httpUrl, list, onOff, parsedBy, secret, variable, integerFrom } from './variables.ts'

/**
 * Uses of samples in local mode. `auto`: for products that no provider can answer. `always`: for all products, and no
 * provider is called. Every answer that uses samples is marked.
 */
export const sampleModes = ['auto', 'always', 'never'] as const

interface AiServer {
  readonly baseUrl: string
  /** Model names. The first name is the default. */
  readonly models: readonly [string, ...string[]]
  readonly apiKey: string | undefined
}

const newsFeeds = z
  .string()
  .transform((value) =>
    value.split(',').map((feed) => {
      const [category = '', ...url] = feed.trim().split('=')
      return { category, url: url.join('=') }
    }),
  )
  .refine(
    (feeds) =>
      feeds.every(({ category, url }) => /^[a-z]+$/.test(category) && /^https?:\/\//.test(url) && URL.canParse(url)),
    'must be category=URL, separated by commas',
  )
  .default([])
const termsNames: readonly string[] = [...upstreamNames, 'NEWS_FEEDS']
const acceptedNames = list
  .refine(
    (names) => names.every((name) => termsNames.includes(name)),
    `must be names of providers, separated by commas: ${termsNames.join(', ')}`,
  )
  .transform((names): ReadonlySet<string> => new Set(names))
  .default(new Set<string>())

const modelsMax = 20

const modelNames = z.string().transform((value, context): [string, ...string[]] => {
  const names = value.split(',').map((name) => name.trim())
  const [first, ...others] = names
  const isValid = names.length <= modelsMax && names.every((name) => name !== '' && name.length <= 200)
  if (first !== undefined && isValid && new Set(names).size === names.length) return [first, ...others]
  context.addIssue(`must be 1 to ${modelsMax} different names of models, separated by commas`)
  return z.NEVER
})

const upstreams = z.object(
  Object.fromEntries(
    upstreamNames.map((name): [string, z.ZodType<UpstreamConfig>] => {
      const upstream = z.object({ url: variable(`${name}_URL`, httpUrl) })
      const hasKey = providerTerms[name].key !== 'none'
      return [name, hasKey ? upstream.extend({ apiKey: variable(`${name}_API_KEY`, secret) }) : upstream]
    }),
  ),
)

const aiServerOf = (prefix: 'AI' | 'AI_FALLBACK') =>
  z
    .object({
      baseUrl: variable(`${prefix}_BASE_URL`, httpUrl),
      models: variable(`${prefix}_MODEL`, modelNames.optional()),
      apiKey: variable(`${prefix}_API_KEY`, secret),
    })
    .transform(({ apiKey, ...needed }): AiServer | undefined => {
      const server = complete(needed)
      return server && { ...server, apiKey }
    })

export const providerConfig = z.object({
  upstreams,
  newsFeeds: variable('NEWS_FEEDS', newsFeeds),
  /** Chat servers in the order of their use. Empty: chat is not sold. */
  aiServers: z
    .object({ first: aiServerOf('AI'), second: aiServerOf('AI_FALLBACK') })
    .transform(({ first, second }) => [first, second].filter((server) => server !== undefined)),
  /** Use of samples. Undefined: `auto` on the chain of local mode, `never` on any other chain. */
  sampleUpstreams: variable('SAMPLE_UPSTREAMS', z.enum(sampleModes, 'must be auto, always or never').optional()),
  /** True if providers are probed. False: a provider counts as available until it fails for a caller. */
  areProbed: variable('PROVIDER_PROBES', onOff('1')),
  /** Providers whose data the operator may sell under an agreement with them. */
  termsAccepted: variable('PROVIDER_TERMS_ACCEPTED', acceptedNames),
  /** The operator's URL or e-mail address. It is part of the User-Agent, because some providers require a contact. */
  contact: variable(
    'UPSTREAM_CONTACT',
    z
      .string()
      .regex(/^[\x20-\x7e]{1,200}$/, 'must be at most 200 printable ASCII characters')
      .default('operator not named'),
  ),
  aiOutputTokensMax: variable('AI_OUTPUT_TOKENS_MAX', integerFrom(1, outputTokensMost, 1_024)),
  aiModelPrices: variable('AI_MODEL_PRICES_USD', parsedBy(parseModelPrices, new Map())),
  /** Prices per token of the models. Only tabs pay these prices. */
  aiTokenPrices: variable('AI_TOKEN_PRICES_USD', parsedBy(parseMeteredPrices, new Map())),
  handlerTimeoutMs,
})

export type ProviderConfig = z.infer<typeof providerConfig>
export type ProviderAddresses = Pick<ProviderConfig, 'newsFeeds' | 'aiServers'> & {
  readonly upstreams: UpstreamConfigs
}
