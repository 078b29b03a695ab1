import type { JsonObject } from '../document/jsonSchema.ts'

export const mcpPath = '/mcp'

/** A tool as clients see it. */
export interface ShownTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly meta?: JsonObject
}

/** One call of a tool. */
export interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
  /** `_meta`. It can carry a payment, so it is never logged. */
  readonly meta: JsonObject
}

/** The result of a call. */
export interface ToolResult {
  readonly isError: boolean
  readonly content: readonly ToolContent[]
  readonly structuredContent?: JsonObject
  readonly meta?: JsonObject
}

export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource'
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string }
    }

const toolNameMax = 64

/**
 * Returns the name of the tool for a path: `/api/data/crypto` is `data_crypto`. Hosts allow 64 letters, digits, `_` and
 * `-`.
 */
export function toolNameOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api')
  return words
    .join('_')
    .replaceAll(/[^A-Za-z0-9-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(-toolNameMax)
}

/** Result of one JSON value. Hosts show the text to the model; programs read the structured content. */
export function jsonResult(content: JsonObject, isError: boolean, meta?: JsonObject): ToolResult {
  const text = JSON.stringify(content)
  return {
    isError,
    content: [{ type: 'text', text }],
    structuredContent: content,
    ...(meta === undefined ? {} : { meta }),
  }
}
