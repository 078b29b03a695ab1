import { z } from 'zod'
import { readHostEntry } from '../machine/hostEntry.ts'
import {
  daySeconds,
  filePath,
  type GivenVariables,
  httpUrl,
  missingBeside,
  type MissingVariable,
  onOff,
  secret,
  wholeNumber,
} from './variables.ts'

/** Polling, browser and storage of the products. */
export interface DeliverySettings {
  /** False: another instance on the same database polls the feeds. */
  readonly newsPolling: boolean
  readonly render: RenderSettings
  readonly artifacts: ArtifactSettings
}

export interface RenderSettings {
  /** Undefined: puppeteer's browser, the system's, or the one from npm. */
  readonly chromiumPath: string | undefined
  /** Pages rendered at once. 0: no page is rendered, and no browser is started. */
  readonly concurrency: number
  /** Browser time that one payment buys, over all its attempts. */
  readonly paymentTimeMs: number
  /** Hosts that may be fetched though their addresses are not global: `name` or `name:port`. */
  readonly allowHosts: readonly string[]
  /** Names, addresses and networks that may not be fetched though they are global. */
  readonly denyHosts: readonly string[]
}

export interface ArtifactSettings {
  /** Undefined: in the home of local mode, or `artifacts` in the working directory. */
  readonly directory: string | undefined
  readonly ttlMs: number
  /** All artifacts together. */
  readonly totalBytesMax: number
  /** Undefined: stored on disk. */
  readonly s3: S3Settings | undefined
}

export interface S3Settings {
  readonly bucket: string
  readonly region: string
  /** Undefined: Amazon S3. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const list = z.string().transform((value) => value.split(',').map((item) => item.trim()))
const hosts = list
  .refine(
    (all) => all.every((host) => /^[^/@?#\\\s]+$/.test(host) && URL.canParse(`http://${host}`)),
    'must be hosts such as wiki.example.com or wiki.example.com:8080, separated by commas',
  )
  .default([])
const deniedHosts = list
  .refine(
    (all) => all.every((host) => readHostEntry(host) !== undefined),
    'must be names, addresses or networks such as 203.0.113.0/24, separated by commas, without ports',
  )
  .default([])
export const deliveryVariables = {
  NEWS_POLLING: onOff('1'),
  CHROMIUM_PATH: filePath,
  RENDER_CONCURRENCY: wholeNumber(0, 16, 2),
  RENDER_SECONDS_PER_PAYMENT: wholeNumber(5, 600, 30),
  EGRESS_ALLOW_HOSTS: hosts,
  EGRESS_DENY_HOSTS: deniedHosts,
  ARTIFACT_DIR: filePath,
  ARTIFACT_TTL_SECONDS: wholeNumber(60, 30 * daySeconds, daySeconds),
  ARTIFACT_TOTAL_MEGABYTES: wholeNumber(100, 100_000_000, 10_000),
  ARTIFACT_S3_BUCKET: z.string().optional(),
  ARTIFACT_S3_REGION: z.string().default('us-east-1'),
  ARTIFACT_S3_ENDPOINT: httpUrl,
  ARTIFACT_S3_ACCESS_KEY_ID: secret,
  ARTIFACT_S3_SECRET_ACCESS_KEY: secret,
}

const millionBytes = 1_000_000

type DeliveryEnvironment = z.infer<z.ZodObject<typeof deliveryVariables>>

export function missingDeliveryVariables(given: GivenVariables): readonly MissingVariable[] {
  return missingBeside(given, 'ARTIFACT_S3_BUCKET', [
    ['ARTIFACT_S3_ACCESS_KEY_ID', 'a key that may write to the bucket'],
    ['ARTIFACT_S3_SECRET_ACCESS_KEY', 'the secret of that key'],
  ])
}

export function deliverySettingsOf(env: DeliveryEnvironment): DeliverySettings {
  return {
    newsPolling: env.NEWS_POLLING,
    render: {
      chromiumPath: env.CHROMIUM_PATH,
      concurrency: env.RENDER_CONCURRENCY,
      paymentTimeMs: env.RENDER_SECONDS_PER_PAYMENT * 1000,
      allowHosts: env.EGRESS_ALLOW_HOSTS,
      denyHosts: env.EGRESS_DENY_HOSTS,
    },
    artifacts: {
      directory: env.ARTIFACT_DIR,
      ttlMs: env.ARTIFACT_TTL_SECONDS * 1000,
      totalBytesMax: env.ARTIFACT_TOTAL_MEGABYTES * millionBytes,
      s3: s3Of(env),
    },
  }
}

function s3Of(env: DeliveryEnvironment): S3Settings | undefined {
  const { ARTIFACT_S3_ACCESS_KEY_ID: accessKeyId, ARTIFACT_S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (env.ARTIFACT_S3_BUCKET === undefined || accessKeyId === undefined || secretAccessKey === undefined)
    return undefined
  const { ARTIFACT_S3_BUCKET: bucket, ARTIFACT_S3_REGION: region, ARTIFACT_S3_ENDPOINT: endpoint } = env
  return { bucket, region, endpoint, accessKeyId, secretAccessKey }
}
