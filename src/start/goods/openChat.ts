import type { ProviderConfig } from '../../config/providerConfig.ts'
import type { UpstreamDeps } from '../../outbound/upstream.ts'
import type { Endpoint } from '../../product/endpoint.ts'
import { chatCompletions } from '../../products/chat/chatCompletions.ts'
import { type ChatDeps, type ChatLimits, modelsOf } from '../../products/chat/chatTurn.ts'
import { openAiError } from '../../products/chat/openAiForm.ts'
import { type ChatServer, createChatServer } from '../../products/chat/server/chatServer.ts'
import { createModelRoutes } from '../../routes/modelRoutes.ts'
import type { FreeRoute } from '../../transport/freeRoute.ts'
import type { Providers } from './openProviders.ts'

/** Opens the chat servers in the order of their use. */
export function openChat(config: ProviderConfig, { data, aiServers }: Providers, caller: UpstreamDeps): ChatDeps {
  return { ...data, chatServers: openServers({ ...config, aiServers }, caller), chatLimits: chatLimitsOf(config) }
}

function chatMsMaxOf({ handlerTimeoutMs }: Pick<ProviderConfig, 'handlerTimeoutMs'>): number {
  return Math.floor(handlerTimeoutMs * 0.9)
}

/** Longest pause within a streamed reply, 5 s of the default time. After a longer pause, the model counts as stopped. */
function silentMsMaxOf({ handlerTimeoutMs }: Pick<ProviderConfig, 'handlerTimeoutMs'>): number {
  return Math.floor(handlerTimeoutMs / 6)
}

/** Limits of chat. A streamed reply must end before the time after which it counts as broken. */
function chatLimitsOf(config: ProviderConfig): ChatLimits {
  const { aiOutputTokensMax: outputTokensMax, aiModelPrices: modelPrices } = config
  return { outputTokensMax, modelPrices, streamMsMax: chatMsMaxOf(config), silentMsMax: silentMsMaxOf(config) }
}

/** The servers share nine tenths of a handler's time, so that a failure of the last one is still reported in time. */
function openServers(config: ProviderConfig, caller: UpstreamDeps): readonly ChatServer[] {
  const { aiServers } = config
  const timeoutMs = Math.floor(chatMsMaxOf(config) / Math.max(1, aiServers.length))
  const silentMsMax = silentMsMaxOf(config)
  return aiServers.map((server, index) =>
    createChatServer(caller, { ...server, label: `ai-${index + 1}`, timeoutMs, silentMsMax }),
  )
}

interface ChatSources {
  readonly provided: ChatDeps
  readonly sampled: ChatDeps | undefined
}

/** The list of models next to the chat of OpenAI's form, if that chat is sold. */
export function modelRoutesOf(
  endpoints: readonly Endpoint[],
  { provided, sampled = provided }: ChatSources,
): readonly FreeRoute[] {
  const chat = endpoints.find(({ path }) => path === chatCompletions.path)
  if (chat === undefined) return []
  const models = () => modelsOf(chat.suppliedBy() === 'samples' ? sampled : provided)
  return createModelRoutes({ models, errorForm: openAiError })
}
