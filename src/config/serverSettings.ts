import { isIP } from 'node:net'
import { z } from 'zod'
import { type GivenVariables, hostName, httpUrl, optionalPort, wholeNumber } from './variables.ts'

/** The HTTP listener. */
export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Base URL for callers. Undefined: the listener's address. */
  readonly publicUrl: string | undefined
  readonly trustedProxyHops: number
  readonly metricsSubnets: readonly string[]
  /** Open connections in all. */
  readonly connectionsMax: number
  /** Open connections of one client address. */
  readonly connectionsPerAddressMax: number
  /** A further listener for health checks and metrics. */
  readonly health: { readonly host: string; readonly port: number } | undefined
}

const subnets = z
  .string()
  .transform((value) => value.split(',').map((subnet) => subnet.trim()))
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

const publicUrl = httpUrl.refine((value) => {
  const url = URL.parse(value ?? '')
  return url === null || (url.search === '' && url.hash === '' && url.username === '' && url.password === '')
}, 'must have no user name, query and fragment')

export const serverVariables = {
  HOST: hostName.optional(),
  PORT: wholeNumber(0, 65_535, 3_402),
  PUBLIC_URL: publicUrl,
  TRUSTED_PROXY_HOPS: wholeNumber(0, 10, 0),
  METRICS_SUBNETS: subnets,
  CONNECTIONS_MAX: wholeNumber(100, 100_000, 5_000),
  CONNECTIONS_PER_ADDRESS_MAX: wholeNumber(1, 100_000, 256),
  HEALTH_HOST: hostName.default('127.0.0.1'),
  HEALTH_PORT: optionalPort,
}

export function serverSettingsOf(
  env: z.infer<z.ZodObject<typeof serverVariables>>,
  hostDefault: string,
): ServerSettings {
  return {
    host: env.HOST ?? hostDefault,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL?.replace(/\/$/, ''),
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    metricsSubnets: env.METRICS_SUBNETS,
    connectionsMax: env.CONNECTIONS_MAX,
    connectionsPerAddressMax: env.CONNECTIONS_PER_ADDRESS_MAX,
    health: env.HEALTH_PORT === undefined ? undefined : { host: env.HEALTH_HOST, port: env.HEALTH_PORT },
  }
}

const listeners = [
  { host: 'HOST', port: 'PORT', defaults: { host: '0.0.0.0', port: '3402' } },
  { host: 'HEALTH_HOST', port: 'HEALTH_PORT', defaults: { host: '127.0.0.1', port: '0' } },
  { host: 'FINANCE_HOST', port: 'FINANCE_PORT', defaults: { host: '127.0.0.1', port: '0' } },
] as const

/** Each pair of listeners that would need the same port of one address. */
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
