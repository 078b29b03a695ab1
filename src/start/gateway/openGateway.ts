import packageJson from '../../../package.json' with { type: 'json' }
import { readVariable } from '../../config.ts'
import type { CatalogConfig } from '../../config/catalogConfig.ts'
import type { ProviderConfig } from '../../config/providerConfig.ts'
import { openRoutes } from '../../gateway/openRoutes.ts'
import { readProductsFile } from '../../gateway/readProductsFile.ts'
import { type BuiltinChoice, builtinNames } from '../../product/builtinName.ts'
import type { PartDeps } from '../partDeps.ts'

export interface GatewayConfig {
  readonly catalog: Pick<CatalogConfig, 'productsFile'>
  readonly providers: Pick<ProviderConfig, 'handlerTimeoutMs' | 'areProbed'>
}

export type OpenGateway = ReturnType<typeof openGateway>

/** Opens the products of the products file. Without a file, the built-in products are sold, and no configured product. */
export function openGateway(config: GatewayConfig, { clock, log, metrics }: PartDeps) {
  const { areProbed: isProbed } = config.providers
  const deps = { clock, log, isProbed, version: packageJson.version, onCall: metrics.onUpstreamCall }
  const file = readConfiguredFile(config)
  if (file === undefined) {
    const builtin: readonly BuiltinChoice[] = builtinNames.map((name) => ({ name, isOff: false }))
    return { ...openRoutes({ builtin, upstreams: new Map(), routes: [] }, deps), builtin }
  }
  return { ...openRoutes(file, deps), builtin: file.builtin }
}

/** Reads the products file. Undefined without PRODUCTS_FILE. Throws a fault if the file has a mistake. */
export function readConfiguredFile({ catalog: { productsFile }, providers: { handlerTimeoutMs } }: GatewayConfig) {
  return productsFile === undefined ? undefined : readProductsFile(productsFile, { readVariable, handlerTimeoutMs })
}
