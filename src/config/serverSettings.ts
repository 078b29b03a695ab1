import { z } from 'zod'
import { httpUrl, whole } from './variables.ts'

/** The HTTP listener. */
export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Base URL for callers. Undefined: the listener's address. */
  readonly publicUrl: string | undefined
  readonly trustedProxyHops: number
  readonly metricsSubnets: readonly string[]
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
  PORT: whole(0, 65_535, 3_402),
  PUBLIC_URL: httpUrl,
  TRUSTED_PROXY_HOPS: whole(0, 10, 0),
  METRICS_SUBNETS: subnets,
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
  }
}
