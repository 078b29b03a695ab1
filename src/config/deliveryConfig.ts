import { z } from 'zod'
import { readHostEntry } from '../machine/hostEntry.ts'
import { complete, filePath, httpUrl, list, megabytes, onOff, secret, variable, integerFrom } from './variables.ts'

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

export const deliveryConfig = z.object({
  /** True if this instance polls the feeds. Another instance on the same database may poll them instead. */
  newsPolling: variable('NEWS_POLLING', onOff('1')),
  render: z.object({
    /** Path of the browser. Undefined: the browser of puppeteer, of the system, or from npm. */
    chromiumPath: variable('CHROMIUM_PATH', filePath),
    /** Maximum number of pages that are rendered at the same time. 0: no page is rendered, and no browser starts. */
    concurrency: variable('RENDER_CONCURRENCY', integerFrom(0, 16, 2)),
    /** Hosts that may be fetched although their addresses are not public, as `name` or `name:port`. */
    allowHosts: variable('EGRESS_ALLOW_HOSTS', hosts),
    /** Names, addresses and networks that must not be fetched although they are public. */
    denyHosts: variable('EGRESS_DENY_HOSTS', deniedHosts),
  }),
  artifacts: z.object({
    /** Folder of artifacts. Undefined: the home of local mode, or `artifacts` in the working directory. */
    directory: variable('ARTIFACT_DIR', filePath),
    totalBytesMax: variable('ARTIFACT_TOTAL_MEGABYTES', megabytes(100, 100_000_000, 10_000)),
    /** Bucket of artifacts. Undefined: artifacts are stored on disk. */
    s3: z
      .object({
        bucket: variable('ARTIFACT_S3_BUCKET', z.string().optional()),
        region: variable('ARTIFACT_S3_REGION', z.string().default('us-east-1')),
        /** URL of an S3-compatible server. Undefined: Amazon S3. */
        endpoint: variable('ARTIFACT_S3_ENDPOINT', httpUrl),
        accessKeyId: variable('ARTIFACT_S3_ACCESS_KEY_ID', secret),
        secretAccessKey: variable('ARTIFACT_S3_SECRET_ACCESS_KEY', secret),
      })
      .transform(({ endpoint, ...needed }) => {
        const bucket = complete(needed)
        return bucket && { ...bucket, endpoint }
      }),
  }),
})

export type DeliveryConfig = z.infer<typeof deliveryConfig>
