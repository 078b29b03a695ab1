import { z } from 'zod'
import {
  type UpstreamName,
  upstreamNames,
  type UpstreamSetting,
  type UpstreamSettings,
} from '../outbound/upstreamName.ts'
import { httpUrl, onOff, secret } from './variables.ts'

/** The providers of data and prices. */
export interface ProviderSettings {
  readonly upstreams: UpstreamSettings
  /** True: `upstreams` are the loopback samples of local mode, and every answer made from them says so. */
  readonly sampleUpstreams: boolean
  /** The operator's URL or e-mail address, for the User-Agent that providers ask for. */
  readonly contact: string
}

type UpstreamVariables = Record<`${UpstreamName}_URL`, typeof httpUrl> &
  Record<`${UpstreamName}_API_KEY`, typeof secret>

export const providerVariables = {
  ...upstreamVariables(),
  SAMPLE_UPSTREAMS: onOff('0'),
  UPSTREAM_CONTACT: z
    .string()
    .regex(/^[\x20-\x7e]{1,200}$/, 'must be at most 200 printable ASCII characters')
    .default('operator not named'),
}

function upstreamVariables(): UpstreamVariables {
  const pairs = upstreamNames.flatMap((name) => [
    [`${name}_URL`, httpUrl],
    [`${name}_API_KEY`, secret],
  ])
  return Object.fromEntries(pairs)
}

export function providerSettingsOf(env: z.infer<z.ZodObject<typeof providerVariables>>): ProviderSettings {
  const upstreams = upstreamNames.map((name): [UpstreamName, UpstreamSetting] => [
    name,
    { url: env[`${name}_URL`], apiKey: env[`${name}_API_KEY`] },
  ])
  return {
    upstreams: Object.fromEntries(upstreams),
    sampleUpstreams: env.SAMPLE_UPSTREAMS,
    contact: env.UPSTREAM_CONTACT,
  }
}
