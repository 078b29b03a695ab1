import type { Tool } from '@modelcontextprotocol/server'
import { withTabPrices } from '../document/usePrices.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { createFreeTools, type FreeTool, freeToolNames } from './freeTools.ts'
import { nameTools, showPaidTool } from './paidTools.ts'

export interface Tools {
  readonly paid: ReadonlyMap<string, Endpoint>
  readonly free: ReadonlyMap<string, FreeTool>
  readonly listed: readonly Tool[]
}

export function openTools(endpoints: readonly Endpoint[], freeRoutes: readonly FreeRoute[]): Tools {
  const paid = nameTools(endpoints, freeToolNames)
  const toolsByPath = new Map([...paid].map(([name, { path }]) => [path, name]))
  const free = new Map(createFreeTools(freeRoutes, toolsByPath).map((tool) => [tool.shown.name, tool]))
  const shown = nameTools(withTabPrices(endpoints), freeToolNames)
  const products = [...shown].map(([name, endpoint]) => showPaidTool(name, endpoint))
  return { paid, free, listed: [...products, ...[...free.values()].map(({ shown }) => shown)] }
}
