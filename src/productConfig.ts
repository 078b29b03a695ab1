import { z } from 'zod'
import { parsedBy, whole } from './configValues.ts'
import {
  type UpstreamName,
  upstreamNames,
  type UpstreamSetting,
  type UpstreamSettings,
} from './outbound/upstreamName.ts'
import type { ProductSettings } from './pricing/priceList.ts'
import { parsePrices, parseProductsOff } from './pricing/productSettings.ts'
import { defaultSplit, parseSplit, type SplitShare } from './pricing/splitSetting.ts'

/** What the operator decides of the products: who is asked for data, what renders, where results are kept. */
export interface ProductConfig extends ProductSettings {
  /** The shares of each payment; `burn` is one of them. */
  readonly split: readonly SplitShare[]
  /** Where callers reach us, for the addresses of artifacts. Undefined: where we listen. */
  readonly publicUrl: string | undefined
  readonly upstreams: UpstreamSettings
  /** The upstreams are the loopback samples of local mode, and every answer from them says so. */
  readonly sampleUpstreams: boolean
  /** Who answers for this server, for the User-Agent that providers ask for: a URL or an e-mail address. */
  readonly contact: string
  readonly newsFeeds: readonly NewsFeed[]
  /** False: another instance on the same database gathers the news. */
  readonly newsPolling: boolean
  /** In the order they are asked; empty: no chat is sold. */
  readonly aiServers: readonly AiServer[]
  readonly aiOutputTokensMax: number
  readonly render: RenderConfig
  readonly artifacts: ArtifactConfig
}

export interface MarketPriceConfig {
  /** Sources may differ by this share of their median. */
  readonly tolerancePercent: number
  readonly liquidityMinUsd: number
  /** A price is quoted for so long after it was last agreed on. */
  readonly ageMaxMs: number
}

export interface NewsFeed {
  readonly category: string
  readonly url: string
}

export interface AiServer {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: string | undefined
}

export interface RenderConfig {
  /** Undefined: puppeteer's own, the system's, or the one from npm. */
  readonly chromiumPath: string | undefined
  /** Pages rendered at once; 0: none are, and no browser is started. */
  readonly concurrency: number
  /** Hosts that may be fetched though they are not global; for tests, `name` or `name:port`. */
  readonly allowHosts: readonly string[]
}

export interface ArtifactConfig {
  /** Undefined: in the home of local mode, or a folder `artifacts` where the service runs. */
  readonly directory: string | undefined
  readonly ttlMs: number
  /** Undefined: kept on disk. */
  readonly s3: S3Config | undefined
}

export interface S3Config {
  readonly bucket: string
  readonly region: string
  /** Undefined: Amazon's. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const day = 24 * 60 * 60

const httpUrl = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'must be an http(s) URL')
  .optional()
const list = z
  .string()
  .transform((value) => value.split(',').map((item) => item.trim()))
  .default([])
const newsFeeds = z
  .string()
  .transform((value) =>
    value.split(',').map((feed) => {
      const [category = '', ...url] = feed.trim().split('=')
      return { category, url: url.join('=') }
    }),
  )
  .refine(
    (feeds) => feeds.every(({ category, url }) => /^[a-z]+$/.test(category) && /^https?:\/\//.test(url)),
    'must be category=URL, separated by commas',
  )
  .default([])
// It goes into a header or an address, where anything else would fail at every request instead of here.
const secret = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .optional()

type UpstreamVariables = Record<`${UpstreamName}_URL`, typeof httpUrl> &
  Record<`${UpstreamName}_API_KEY`, typeof secret>

export const productVariables = {
  PRICES_USD: parsedBy(parsePrices, new Map()),
  PRODUCTS_OFF: parsedBy(parseProductsOff, new Set()),
  SPLIT: parsedBy(parseSplit, defaultSplit),
  ...upstreamVariables(),
  PUBLIC_URL: httpUrl,
  SAMPLE_UPSTREAMS: z.enum(['0', '1'], 'must be 0 or 1').default('0'),
  UPSTREAM_CONTACT: z
    .string()
    .regex(/^[\x20-\x7e]{1,200}$/, 'must be at most 200 printable ASCII characters')
    .default('operator not named'),
  NEWS_FEEDS: newsFeeds,
  NEWS_POLLING: z.enum(['0', '1'], 'must be 0 or 1').default('1'),
  AI_BASE_URL: httpUrl,
  AI_MODEL: z.string().optional(),
  AI_API_KEY: secret,
  AI_FALLBACK_BASE_URL: httpUrl,
  AI_FALLBACK_MODEL: z.string().optional(),
  AI_FALLBACK_API_KEY: secret,
  AI_OUTPUT_TOKENS_MAX: whole(1, 32_768, 1_024),
  CHROMIUM_PATH: z.string().optional(),
  RENDER_CONCURRENCY: whole(0, 16, 2),
  EGRESS_ALLOW_HOSTS: list,
  ARTIFACT_DIR: z.string().optional(),
  ARTIFACT_TTL_SECONDS: whole(60, 30 * day, day),
  ARTIFACT_S3_BUCKET: z.string().optional(),
  ARTIFACT_S3_REGION: z.string().default('us-east-1'),
  ARTIFACT_S3_ENDPOINT: httpUrl,
  ARTIFACT_S3_ACCESS_KEY_ID: secret,
  ARTIFACT_S3_SECRET_ACCESS_KEY: secret,
}

const environment = z.object(productVariables)
type Environment = z.infer<typeof environment>

function upstreamVariables(): UpstreamVariables {
  const pairs = upstreamNames.flatMap((name) => [
    [`${name}_URL`, httpUrl],
    [`${name}_API_KEY`, secret],
  ])
  return Object.fromEntries(pairs)
}

/** Settings that others make necessary, with the reason. */
export function missingProductVariables(env: Environment): readonly (readonly [name: string, why: string])[] {
  const missing: [string, string][] = []
  const needs = (name: string, why: string) => void missing.push([name, why])
  for (const prefix of ['AI', 'AI_FALLBACK'] as const)
    if (env[`${prefix}_BASE_URL`] !== undefined && env[`${prefix}_MODEL`] === undefined)
      needs(`${prefix}_MODEL`, `the model to ask of the server of ${prefix}_BASE_URL`)
  if (env.ARTIFACT_S3_BUCKET !== undefined) {
    if (env.ARTIFACT_S3_ACCESS_KEY_ID === undefined) needs('ARTIFACT_S3_ACCESS_KEY_ID', 'it may write the bucket')
    if (env.ARTIFACT_S3_SECRET_ACCESS_KEY === undefined)
      needs('ARTIFACT_S3_SECRET_ACCESS_KEY', 'it may write the bucket')
  }
  return missing
}

export function productConfigOf(env: Environment) {
  return {
    prices: env.PRICES_USD,
    productsOff: env.PRODUCTS_OFF,
    split: env.SPLIT,
    publicUrl: env.PUBLIC_URL?.replace(/\/$/, ''),
    upstreams: upstreamsOf(env),
    sampleUpstreams: env.SAMPLE_UPSTREAMS === '1',
    contact: env.UPSTREAM_CONTACT,
    newsFeeds: env.NEWS_FEEDS,
    newsPolling: env.NEWS_POLLING === '1',
    aiServers: [
      aiServerOf(env.AI_BASE_URL, env.AI_MODEL, env.AI_API_KEY),
      aiServerOf(env.AI_FALLBACK_BASE_URL, env.AI_FALLBACK_MODEL, env.AI_FALLBACK_API_KEY),
    ].filter((server) => server !== undefined),
    aiOutputTokensMax: env.AI_OUTPUT_TOKENS_MAX,
    render: {
      chromiumPath: env.CHROMIUM_PATH,
      concurrency: env.RENDER_CONCURRENCY,
      allowHosts: env.EGRESS_ALLOW_HOSTS,
    },
    artifacts: { directory: env.ARTIFACT_DIR, ttlMs: env.ARTIFACT_TTL_SECONDS * 1000, s3: s3Of(env) },
  }
}

function upstreamsOf(env: Environment): UpstreamSettings {
  const settings = upstreamNames.map((name): [UpstreamName, UpstreamSetting] => [
    name,
    { url: env[`${name}_URL`], apiKey: env[`${name}_API_KEY`] },
  ])
  return Object.fromEntries(settings)
}

function aiServerOf(baseUrl: string | undefined, model: string | undefined, apiKey: string | undefined) {
  return baseUrl === undefined || model === undefined ? undefined : { baseUrl, model, apiKey }
}

function s3Of(env: Environment): S3Config | undefined {
  const { ARTIFACT_S3_ACCESS_KEY_ID: accessKeyId, ARTIFACT_S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (env.ARTIFACT_S3_BUCKET === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return undefined
  const { ARTIFACT_S3_BUCKET: bucket, ARTIFACT_S3_REGION: region, ARTIFACT_S3_ENDPOINT: endpoint } = env
  return { bucket, region, endpoint, accessKeyId, secretAccessKey }
}
