import type { TabOption } from '@tollbook/client'
import { readUsd } from '../attoUsd.ts'
import type { Policy } from './policy.ts'

const smallest = { depositUsd: 1 } as const

/** Undefined: each request to the host is paid separately. */
export function tabOptionFor({ hosts, limits, tabs, confirmAboveUsd }: Policy, host: string): TabOption | undefined {
  if (tabs === false) return undefined
  const { depositUsd } = tabs ?? smallest
  const { perDayUsd, perHostUsd, totalUsd } = limits
  const ceilings = [perDayUsd, perHostUsd, totalUsd, tabs === undefined ? confirmAboveUsd : undefined]
  const depositAttoUsd = readUsd(String(depositUsd))
  // A lower limit would refuse each deposit, so each request is paid separately instead.
  if (ceilings.some((usd) => usd !== undefined && readUsd(usd) < depositAttoUsd)) return undefined
  const { payTo, tabPayTo } = hosts[host] ?? {}
  // A deposit goes to another wallet than a payment, so `payTo` alone permits no deposit.
  if (payTo !== undefined && tabPayTo === undefined) return undefined
  return { depositUsd, topUp: true, ...(tabPayTo === undefined ? {} : { expectedWallet: tabPayTo }) }
}

export const tabsPath = '/api/tabs'

/**
 * True for the path at which a service sells tabs. Ignores case and trailing slashes, because a service may ignore them
 * too.
 */
export function sellsTabs(path: string): boolean {
  return path.toLowerCase().replace(/\/+$/, '').endsWith(tabsPath)
}
