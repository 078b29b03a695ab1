import { assertPresent } from '@tollbook/core/assert'
import packageJson from '../../../package.json' with { type: 'json' }
import type { ProviderAddresses, ProviderConfig } from '../../config/providerConfig.ts'
import type { UpstreamAccess } from '../../outbound/publicUpstream.ts'
import { createUpstream, type UpstreamDeps } from '../../outbound/upstream.ts'
import type { PartDeps } from '../partDeps.ts'

/** Clients of other services. Each request names Tollbook and the operator. */
export interface Upstreams {
  readonly caller: UpstreamDeps
  /** Opens services at these addresses. */
  accessTo(addresses: Pick<ProviderAddresses, 'upstreams'>, isSample: boolean): UpstreamAccess
  /** The services of the configuration, or their samples where local mode calls no service. */
  readonly access: UpstreamAccess
}

export interface UpstreamsDeps extends PartDeps {
  /** Sample servers on loopback, which local mode starts. */
  readonly samples: ProviderAddresses | undefined
}

type UpstreamsConfig = Pick<ProviderConfig, 'contact' | 'upstreams' | 'sampleUpstreams'>

export function openUpstreams(config: UpstreamsConfig, { clock, log, metrics, samples }: UpstreamsDeps): Upstreams {
  const { version } = packageJson
  const caller = { clock, log, contact: config.contact, version, onCall: metrics.onUpstreamCall }
  const openUpstream: UpstreamAccess['openUpstream'] = (options) => createUpstream(caller, options)
  const accessTo: Upstreams['accessTo'] = ({ upstreams }, isSample) => ({
    clock,
    upstreams,
    sampleUpstreams: isSample,
    openUpstream,
  })
  const access =
    config.sampleUpstreams === 'always'
      ? accessTo(assertPresent(samples, 'local mode has started the samples'), true)
      : accessTo(config, false)
  return { caller, accessTo, access }
}
