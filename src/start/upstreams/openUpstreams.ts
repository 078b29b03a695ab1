import packageJson from '../../../package.json' with { type: 'json' }
import type { ProviderAddresses, ProviderConfig } from '../../config/providerConfig.ts'
import type { UpstreamAccess } from '../../outbound/publicUpstream.ts'
import { createUpstream, type UpstreamDeps } from '../../outbound/upstream.ts'
import type { PartDeps } from '../partDeps.ts'

export type Upstreams = ReturnType<typeof openUpstreams>

/** Opens clients of other services. Each request contains the names of Tollbook and the operator. */
export function openUpstreams(
  config: Pick<ProviderConfig, 'contact' | 'upstreams'>,
  { clock, log, metrics }: PartDeps,
) {
  const { version } = packageJson
  const caller: UpstreamDeps = { clock, log, contact: config.contact, version, onCall: metrics.onUpstreamCall }
  const openUpstream: UpstreamAccess['openUpstream'] = (options) => createUpstream(caller, options)
  const accessTo = ({ upstreams }: Pick<ProviderAddresses, 'upstreams'>, isSample: boolean): UpstreamAccess => {
    return { clock, upstreams, sampleUpstreams: isSample, openUpstream }
  }
  return { caller, accessTo, access: accessTo(config, false) }
}
