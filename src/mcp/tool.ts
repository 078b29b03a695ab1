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
