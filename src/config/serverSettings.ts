import { z } from 'zod'
import { httpUrl, optionalPort, wholeNumber } from './variables.ts'

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
    (all) => all.every((subnet) => /^[0-9a-fA-F.:]+\/\d{1,3}$/.test(subnet)),
    'must be subnets such as 10.0.0.0/8, separated by commas',
  )
  .default(['127.0.0.0/8', '::1/128'])

export const serverVariables = {
  HOST: z.string().optional(),
  PORT: wholeNumber(0, 65_535, 3_402),
  PUBLIC_URL: httpUrl,
  TRUSTED_PROXY_HOPS: wholeNumber(0, 10, 0),
  METRICS_SUBNETS: subnets,
  CONNECTIONS_MAX: wholeNumber(100, 100_000, 5_000),
  CONNECTIONS_PER_ADDRESS_MAX: wholeNumber(1, 100_000, 256),
  HEALTH_HOST: z.string().default('127.0.0.1'),
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
