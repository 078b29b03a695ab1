import { z } from 'zod'
import {
  type KeyedUpstreamName,
  keyedUpstreamNames,
  type UpstreamName,
  upstreamNames,
  type UpstreamSetting,
  type UpstreamSettings,
} from '../product/upstreamName.ts'
import { type ModelPrices, outputTokensMost, parseModelPrices } from '../pricing/modelPrices.ts'
import {
  type GivenVariables,
  httpUrl,
  missingBeside,
  type MissingVariable,
  onOff,
  parsedBy,
  secret,
  wholeNumber,
} from './variables.ts'

/** The providers of data, prices, headlines and chat. */
export interface ProviderSettings extends ProviderAddresses {
  readonly sampleUpstreams: SampleMode
  /** The loopback samples, which local mode starts; undefined outside it and with `never`. */
  readonly samples?: ProviderAddresses
  /** False: a provider counts as available until it fails a caller. */
  readonly areProbed: boolean
  /** Providers whose terms cover the sale, by agreements of the operator. */
  readonly termsAccepted: ReadonlySet<string>
  /** The operator's URL or e-mail address, for the User-Agent that providers ask for. */
  readonly contact: string
  readonly aiOutputTokensMax: number
  /** Models with a separate price. */
  readonly aiModelPrices: ModelPrices
  /** Time of a request handler; the chat servers share most of it. */
  readonly handlerTimeoutMs: number
}

/** Addresses and keys of the providers. */
export interface ProviderAddresses {
  readonly upstreams: UpstreamSettings
  readonly newsFeeds: readonly NewsFeed[]
  /** Servers in the order in which they are asked. Empty: no chat is sold. */
  readonly aiServers: readonly AiServer[]
}

/**
 * Use of samples in local mode. `auto`: for products none of whose providers answers. `always`: no provider is asked. Every
 * answer made from samples says so.
 */
export const sampleModes = ['auto', 'always', 'never'] as const
export type SampleMode = (typeof sampleModes)[number]

export interface NewsFeed {
  readonly category: string
  readonly url: string
}

/** A server that speaks the chat API of OpenAI. */
export interface AiServer {
  readonly baseUrl: string
  /** The default first. */
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
const acceptedNames = z
  .string()
  .transform((value) => new Set(value.split(',').map((name) => name.trim())))
  .refine(
    (names) => [...names].every((name) => termsNames.includes(name)),
    `must be names of providers, separated by commas: ${termsNames.join(', ')}`,
  )
  .default(new Set<string>())

const modelsMax = 20

/** One model or several, separated by commas; the first is the default. */
const modelNames = z.string().transform((value, context): [string, ...string[]] => {
  const names = value.split(',').map((name) => name.trim())
  const [first, ...others] = names
  const isValid = names.length <= modelsMax && names.every((name) => name !== '' && name.length <= 200)
  if (first !== undefined && isValid && new Set(names).size === names.length) return [first, ...others]
  context.addIssue(`must be 1 to ${modelsMax} different names of models, separated by commas`)
  return z.NEVER
})
type UpstreamVariables = Record<`${UpstreamName}_URL`, typeof httpUrl> &
  Record<`${KeyedUpstreamName}_API_KEY`, typeof secret>

export const providerVariables = {
  ...upstreamVariables(),
  SAMPLE_UPSTREAMS: z.enum(sampleModes, 'must be auto, always or never').optional(),
  PROVIDER_PROBES: onOff('1'),
  PROVIDER_TERMS_ACCEPTED: acceptedNames,
  UPSTREAM_CONTACT: z
    .string()
    .regex(/^[\x20-\x7e]{1,200}$/, 'must be at most 200 printable ASCII characters')
    .default('operator not named'),
  NEWS_FEEDS: newsFeeds,
  AI_BASE_URL: httpUrl,
  AI_MODEL: modelNames.optional(),
  AI_API_KEY: secret,
  AI_FALLBACK_BASE_URL: httpUrl,
  AI_FALLBACK_MODEL: modelNames.optional(),
  AI_FALLBACK_API_KEY: secret,
  AI_OUTPUT_TOKENS_MAX: wholeNumber(1, outputTokensMost, 1_024),
  AI_MODEL_PRICES_USD: parsedBy(parseModelPrices, new Map()),
}

function upstreamVariables(): UpstreamVariables {
  const urls = upstreamNames.map((name) => [`${name}_URL`, httpUrl])
  const keys = keyedUpstreamNames.map((name) => [`${name}_API_KEY`, secret])
  return Object.fromEntries([...urls, ...keys])
}

type ProviderEnvironment = z.infer<z.ZodObject<typeof providerVariables>>

export function missingProviderVariables(given: GivenVariables): readonly MissingVariable[] {
  return [...missingModel(given, 'AI'), ...missingModel(given, 'AI_FALLBACK')]
}

function missingModel(given: GivenVariables, prefix: 'AI' | 'AI_FALLBACK'): readonly MissingVariable[] {
  return missingBeside(given, `${prefix}_BASE_URL`, [
    [`${prefix}_MODEL`, `the model to ask for at the server of ${prefix}_BASE_URL`],
  ])
}

/** Samples are free only where the tokens are: on the chain of local mode. */
export function sampleConflicts(given: GivenVariables): readonly string[] {
  const asked = given['SAMPLE_UPSTREAMS']
  if (asked === undefined || asked === 'never' || given['SOLANA_RPC_URLS'] === undefined) return []
  return ['SAMPLE_UPSTREAMS is for local mode with its own chain only: set it to never or unset SOLANA_RPC_URLS']
}

interface ProviderContext {
  readonly handlerTimeoutMs: number
  readonly hasLocalChain: boolean
}

export function providerSettingsOf(
  env: ProviderEnvironment,
  { handlerTimeoutMs, hasLocalChain }: ProviderContext,
): ProviderSettings {
  return {
    upstreams: upstreamsOf(env),
    sampleUpstreams: env.SAMPLE_UPSTREAMS ?? (hasLocalChain ? 'auto' : 'never'),
    areProbed: env.PROVIDER_PROBES,
    termsAccepted: env.PROVIDER_TERMS_ACCEPTED,
    contact: env.UPSTREAM_CONTACT,
    newsFeeds: env.NEWS_FEEDS,
    aiServers: [
      aiServerOf(env.AI_BASE_URL, env.AI_MODEL, env.AI_API_KEY),
      aiServerOf(env.AI_FALLBACK_BASE_URL, env.AI_FALLBACK_MODEL, env.AI_FALLBACK_API_KEY),
    ].filter((server) => server !== undefined),
    aiOutputTokensMax: env.AI_OUTPUT_TOKENS_MAX,
    aiModelPrices: env.AI_MODEL_PRICES_USD,
    handlerTimeoutMs,
  }
}

function upstreamsOf(env: ProviderEnvironment): UpstreamSettings {
  const apiKeys = new Map<UpstreamName, string | undefined>(
    keyedUpstreamNames.map((name) => [name, env[`${name}_API_KEY`]]),
  )
  const settings = upstreamNames.map((name): [UpstreamName, UpstreamSetting] => [
    name,
    { url: env[`${name}_URL`], apiKey: apiKeys.get(name) },
  ])
  return Object.fromEntries(settings)
}

type ModelNames = AiServer['models']

function aiServerOf(
  baseUrl: string | undefined,
  models: ModelNames | undefined,
  apiKey: string | undefined,
): AiServer | undefined {
  return baseUrl === undefined || models === undefined ? undefined : { baseUrl, models, apiKey }
}
