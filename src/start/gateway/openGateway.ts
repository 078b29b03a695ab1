import packageJson from '../../../package.json' with { type: 'json' }
import { readVariable } from '../../config.ts'
import { openRoutes } from '../../gateway/openRoutes.ts'
import { readProductsFile } from '../../gateway/readProductsFile.ts'
import { type BuiltinChoice, builtinNames } from '../../product/builtinName.ts'
import type { PartDeps } from '../partDeps.ts'

export interface GatewayConfig {
  /** Path from `PRODUCTS_FILE`. Undefined: the built-in products are sold. */
  readonly productsFile: string | undefined
  readonly handlerTimeoutMs: number
  /** True if upstreams are probed. False: an upstream counts as working until it fails. */
  readonly areProbed: boolean
}

export type OpenGateway = ReturnType<typeof openGateway>

/**
 * Opens the products of the operator's file. Without a file, opens no configured products, and the built-in products
 * are sold.
 */
export function openGateway(
  { productsFile, handlerTimeoutMs, areProbed: isProbed }: GatewayConfig,
  { clock, log, metrics }: PartDeps,
) {
  const deps = { clock, log, isProbed, version: packageJson.version, onCall: metrics.onUpstreamCall }
  if (productsFile === undefined) {
    const builtin: readonly BuiltinChoice[] = builtinNames.map((name) => ({ name, isOff: false }))
    return { ...openRoutes({ builtin, upstreams: new Map(), routes: [] }, deps), builtin }
  }
  const file = readProductsFile(productsFile, { readVariable, handlerTimeoutMs })
  return { ...openRoutes(file, deps), builtin: file.builtin }
}
