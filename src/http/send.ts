import type { Context } from 'koa'
import type { FreeAnswer } from './freeRoutes.ts'

export function send(context: Context, { status, headers, body }: FreeAnswer): void {
  context.status = status
  context.set(headers)
  context.body = body
}
