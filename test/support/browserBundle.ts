import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'

/** Names of a browser that the client uses. A context of node:vm has those of the language and no name of Node. */
const browserGlobals = {
  AbortController,
  AbortSignal,
  atob,
  btoa,
  clearTimeout,
  crypto,
  CryptoKey,
  fetch,
  Headers,
  performance,
  Request,
  Response,
  setTimeout,
  structuredClone,
  TextDecoder,
  TextEncoder,
  Uint8Array,
  URL,
}

export interface BrowserBundle {
  readonly code: string
  /** Modules that the bundle leaves to its environment; a browser has none. */
  readonly imports: readonly string[]
}

/** Bundles a module with everything it imports, for a `<script>`. */
export async function bundleForBrowsers(input: string, { minify = false } = {}): Promise<BrowserBundle> {
  const resolve = { extensions: ['.ts', '.js'] }
  const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent', resolve })
  const { output } = await bundle.generate({ format: 'iife', name: 'bundled', codeSplitting: false, minify })
  await bundle.close()
  const [{ code, imports }] = output
  return { code, imports }
}

/** Runs the bundle without any name of Node; what it exports. */
export function runInBrowserContext({ code }: BrowserBundle): unknown {
  const context = createContext({ ...browserGlobals })
  runInContext(`${code}\nglobalThis.bundled = bundled`, context)
  return context['bundled']
}
