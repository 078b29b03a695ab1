import { isIP } from 'node:net'
import { z } from 'zod'
import {
  complete,
  type GivenVariables,
  hostName,
  httpUrl,
  list,
  megabytes,
  optionalPort,
  variable,
  integerFrom,
} from './variables.ts'

const subnets = list
  .refine(
    (all) => all.every(isSubnet),
    'must be subnets such as 10.0.0.0/8, separated by commas; prefixes have 0 to 32 bits, or 128 for IPv6',
  )
  .default(['127.0.0.0/8', '::1/128'])

function isSubnet(text: string): boolean {
  const [network = '', bits = '', ...rest] = text.split('/')
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax
}

const baseUrl = httpUrl
  .refine((value) => {
    const url = URL.parse(value ?? '')
    return url === null || (url.search === '' && url.hash === '')
  }, 'must have no query and no fragment')
  .transform((value) => value?.replace(/\/$/, ''))

export const serverConfig = z.object({
  /** Address to listen on. Undefined: all addresses, or loopback in local mode. */
  host: variable('HOST', hostName.optional()),
  port: variable('PORT', integerFrom(0, 65_535, 3_402)),
  /** Base URL for callers, without a trailing slash. Undefined: the address of the listener. */
  publicUrl: variable('PUBLIC_URL', baseUrl),
  trustedProxyHops: variable('TRUSTED_PROXY_HOPS', integerFrom(0, 10, 0)),
  metricsSubnets: variable('METRICS_SUBNETS', subnets),
  health: z
    .object({
      host: variable('HEALTH_HOST', hostName.default('127.0.0.1')),
      port: variable('HEALTH_PORT', optionalPort),
    })
    .transform(complete),
})

/**
 * Limits for one client that does not pay. 0 means no limit. 3,000 open quotes are 0.9 million quotes per day, which is
 * about 0.35 GB of storage per day for each address.
 */
export const limitConfig = z.object({
  /** Maximum requests per minute of a client address. Requests that led to a payment do not count. */
  requestsPerMinute: variable('RATE_LIMIT_PER_MINUTE', integerFrom(0, 1_000_000, 6_000)),
  /** Maximum unpaid quotes of a client address within the lifetime of a quote. */
  quotesPerAddressMax: variable('QUOTES_PER_ADDRESS_MAX', integerFrom(0, 10_000_000, 3_000)),
  /**
   * Maximum unpaid quotes of a wallet within the lifetime of a quote. The limit exists because a payment without a memo
   * is compared with all quotes of its wallet from one day.
   */
  quotesPerWalletMax: variable('QUOTES_PER_WALLET_MAX', integerFrom(0, 10_000_000, 300)),
  /** Maximum bytes of unpaid quotes of all callers within the lifetime of a quote. The default is 18 GB per day. */
  openQuotesBytesMax: variable('OPEN_QUOTES_MEGABYTES', megabytes(0, 1_000_000, 64)),
  /** Maximum proofs per minute of a client address that are neither in the ledger nor confirmed by the chain. */
  unknownProofsPerMinute: variable('UNKNOWN_PROOFS_PER_MINUTE', integerFrom(0, 1_000_000, 300)),
})

export type ServerConfig = z.infer<typeof serverConfig> & { readonly host: string }
export type LimitConfig = z.infer<typeof limitConfig>

const listeners = [
  { host: 'HOST', port: 'PORT', defaults: { host: '0.0.0.0', port: '3402' } },
  { host: 'HEALTH_HOST', port: 'HEALTH_PORT', defaults: { host: '127.0.0.1', port: '0' } },
  { host: 'FINANCE_HOST', port: 'FINANCE_PORT', defaults: { host: '127.0.0.1', port: '0' } },
] as const

export function sharedPorts(given: GivenVariables): readonly string[] {
  const opened = listeners.map(({ host, port, defaults }) => ({
    name: port,
    host: given[host] ?? defaults.host,
    port: Number(given[port] ?? defaults.port),
  }))
  return opened.flatMap((one, index) =>
    opened
      .slice(index + 1)
      .filter((other) => one.port !== 0 && one.port === other.port && overlap(one.host, other.host))
      .map((other) => `${one.name} and ${other.name} are both ${one.port}: give each listener its own port`),
  )
}

function overlap(one: string, other: string): boolean {
  return one === other || [one, other].some((host) => host === '0.0.0.0' || host === '::')
}
