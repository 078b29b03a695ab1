import { Command } from 'commander'
import { z } from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { systemClock } from '@tollbook/core/clock'
import { formatDecimal } from '@tollbook/core/money'
import { UsageProblem } from '@tollbook/client/command/usageProblem'
import { readConfig, readVariable } from '../config.ts'
import { openRoutes, type OpenRoutes } from '../gateway/openRoutes.ts'
import { productsFileSchema } from '../gateway/productsFile.ts'
import { type ProductsFile, readProductsFile } from '../gateway/readProductsFile.ts'
import { createLog } from '../machine/log.ts'
import { meteredEntries, priceEntries, usdDecimals } from '../pricing/priceList.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { MeteredJob } from '../product/product.ts'
import { hasNoBody } from '../product/productFacts.ts'
import type { CommandDeps } from './commandDeps.ts'
import { printCharge, printOutcome } from './productOutcome.ts'
import { importCommand } from './productsImport.ts'
import { exitCodeOf, printResult } from './runCommand.ts'

export function productsCommand(deps: CommandDeps): Command {
  const run = async (work: () => Promise<number>) => deps.setExitCode(await exitCodeOf(deps, work))
  const products = new Command('products').description('check and try the products of a file, and print its schema')
  products
    .command('check')
    .description('report every mistake of the file, or list what it sells')
    .argument('[file]', 'default: PRODUCTS_FILE')
    .action((file?: string) => run(() => Promise.resolve(check(deps, read(file)))))
  products
    .command('try')
    .description('ask the upstream of a route as a sale would, and print the answer; nothing is sold or recorded')
    .argument('<path>', 'path of the route, as in the file')
    .argument('[parameters...]', 'name=value')
    .option('--file <file>', 'default: PRODUCTS_FILE')
    .action((path: string, parameters: string[], { file }: { readonly file?: string }) =>
      run(() => tryRoute(deps, read(file), { path, parameters })),
    )
  products.addCommand(importCommand(deps, run))
  products
    .command('schema')
    .description('print the JSON Schema of the file, for editors')
    .action(() => run(() => Promise.resolve(printSchema(deps))))
  return products
}

function read(file: string | undefined): ProductsFile {
  const { catalog, sale } = readConfig()
  const path = file ?? catalog.productsFile
  if (path === undefined) throw new UsageProblem('file', 'name the file, or set PRODUCTS_FILE')
  return readProductsFile(path, { readVariable, handlerTimeoutMs: sale.handlerTimeoutMs })
}

function check(deps: CommandDeps, { routes, builtin }: ProductsFile): number {
  const sold = routes.map(({ route, prices }) => ({
    method: route.method,
    path: route.path,
    summary: route.summary,
    upstream: route.upstream,
    pricesUsd: [...new Set([prices.priceMicroUsd, ...prices.variants.map((variant) => variant.priceMicroUsd)])].map(
      (price) => formatDecimal(price, usdDecimals),
    ),
    // Unit that tabs are charged by. Null: the price is fixed.
    unit: prices.unit?.kind ?? null,
  }))
  const lines = sold.map(({ method, path, pricesUsd, upstream, unit }) => {
    const [first = '', ...others] = pricesUsd
    const more = others.length === 0 ? '' : ` and ${others.length} other prices`
    return `${method} ${path}  $${first}${more}${unit === null ? '' : `, on tabs by ${unit}`}  from ${upstream}`
  })
  const names = builtin.filter(({ isOff }) => !isOff).map(({ name }) => name)
  const builtinLines = names.map((name) => `${name}  built in`)
  printResult(
    deps,
    { routes: sold, builtin: names },
    [...lines, ...builtinLines, `the file has no mistakes and sells ${sold.length + names.length} products`].join('\n'),
  )
  return 0
}

interface TriedRoute {
  readonly path: string
  readonly parameters: readonly string[]
}

async function tryRoute(deps: CommandDeps, file: ProductsFile, { path, parameters }: TriedRoute): Promise<number> {
  const routes = openRoutes(file, {
    clock: systemClock,
    log: createLog({ level: 'info', name: 'try', destination: { write: (line) => printReason(deps, line) } }),
    isProbed: false,
    version: packageJson.version,
    onCall: () => undefined,
  })
  try {
    const endpoint = routes.open(routes.products).find((one) => one.path === path)
    if (endpoint === undefined) throw new UsageProblem('path', `the file sells ${pathsOf(routes)} (got ${path})`)
    const order = endpoint.read(orderOf(endpoint, parameters))
    if (!order.ok) {
      const problems = order.issues.map((issue) => `${issue.path.join('.') || 'parameters'}: ${issue.message}`)
      throw new UsageProblem('parameters', problems.join('; '))
    }
    const metered = meteredJob(routes, order.endpoint)
    // Placeholders, because nothing is paid or recorded.
    const job = { requestId: 'request_try', payer: 'payer', payment: 'payment', signal: deps.interrupted }
    const outcome = await order.deliver(metered === undefined ? job : { ...job, metered })
    // Print the charge last, because a stream reports its usage while it is read.
    const code = await printOutcome(deps, outcome)
    if (metered !== undefined && code === 0) printCharge(deps, metered, outcome)
    return code
  } finally {
    await routes.close()
  }
}

function meteredJob({ products }: OpenRoutes, endpoint: string): MeteredJob | undefined {
  const price = meteredEntries(products).find((entry) => entry.endpoint === endpoint)
  const listed = priceEntries(products).find((entry) => entry.endpoint === endpoint)
  return price === undefined || listed === undefined ? undefined : { price, budgetMicroUsd: listed.priceMicroUsd }
}

const reasonShape = z.looseObject({ error: z.string() })

/** Prints the reason to the operator, because callers do not get it. */
function printReason({ stderr }: CommandDeps, line: string): void {
  const entry = reasonShape.safeParse(JSON.parse(line))
  if (entry.success) stderr.write(`${entry.data.error}\n`)
}

const pathsOf = ({ products }: OpenRoutes) => products.map(({ path }) => path).join(', ')

function orderOf({ method }: Endpoint, parameters: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    parameters.map((parameter) => {
      const cut = parameter.indexOf('=')
      if (cut < 1) throw new UsageProblem('parameters', `write name=value (got ${parameter})`)
      const [name, text] = [parameter.slice(0, cut), parameter.slice(cut + 1)]
      return [name, hasNoBody(method) ? text : jsonOrText(text)]
    }),
  )
}

function jsonOrText(text: string): unknown {
  try {
    return z.json().parse(JSON.parse(text))
  } catch {
    // Accept text without quotes, because shells make quoted JSON text hard to write.
    return text
  }
}

function printSchema({ stdout }: CommandDeps): number {
  stdout.write(`${JSON.stringify(productsFileSchema(), undefined, 2)}\n`)
  return 0
}
