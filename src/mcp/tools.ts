import type { Tool } from '@modelcontextprotocol/server'
import { withTabPrices } from '../document/usePrices.ts'
import type { Endpoint } from '../product/endpoint.ts'
import type { FreeRoute } from '../transport/freeRoute.ts'
import { createFreeTools, type FreeTool } from './freeTools.ts'
import { nameTools, showPaidTool } from './paidTools.ts'

export interface Tools {
  readonly paid: ReadonlyMap<string, Endpoint>
  readonly free: ReadonlyMap<string, FreeTool>
  readonly listed: readonly Tool[]
}

export function openTools(endpoints: readonly Endpoint[], freeRoutes: readonly FreeRoute[]): Tools {
  const paid = nameTools(endpoints)
  const free = new Map(createFreeTools(freeRoutes).map((tool) => [tool.shown.name, tool]))
  const shown = nameTools(withTabPrices(endpoints))
  const products = [...shown].map(([name, endpoint]) => showPaidTool(name, endpoint))
  return { paid, free, listed: [...products, ...[...free.values()].map(({ shown }) => shown)] }
}
