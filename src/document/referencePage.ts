import { z } from 'zod'
import type { Endpoint } from '../product/endpoint.ts'
import type { JsonObject } from './jsonSchema.ts'
import { anchorOf, markdown } from './markdown.ts'
import { html } from './markup.ts'
import { pageFrame } from './pageFrame.ts'
import { payPathOf } from './paymentPage.ts'
import { shownParameters } from './shownParameters.ts'

const parameterShape = z.object({
  name: z.string(),
  in: z.string(),
  description: z.string().default(''),
})
const operationShape = z.object({
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().default(''),
  parameters: z.array(z.union([z.object({ $ref: z.string() }), parameterShape])).default([]),
  responses: z.record(
    z.string(),
    z.looseObject({ content: z.record(z.string(), z.looseObject({ example: z.json().optional() })).optional() }),
  ),
  'x-codeSamples': z.array(z.object({ label: z.string(), source: z.string() })).default([]),
})
const documentShape = z.object({
  info: z.object({ title: z.string(), version: z.string(), summary: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
})

interface Operation extends z.infer<typeof operationShape> {
  readonly path: string
  readonly method: string
}

/**
 * Renders the page at `/docs` from the Markdown of the OpenAPI document. The page needs no script and no content from
 * another site.
 */
export function referencePage(openApi: JsonObject, endpoints: readonly Endpoint[]): string {
  const document = documentShape.parse(openApi)
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const parameters = new Map(endpoints.map((endpoint) => [endpoint.path, shownParameters(endpoint.parameters)]))
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ tags }) => tags.includes(name))
    const isSold = (operation: Operation) => parameters.has(operation.path)
    const parts = own.map((operation) =>
      isSold(operation) ? productText(operation, parameters.get(operation.path) ?? '') : operationLine(operation),
    )
    return [`## ${name}`, description, parts.join(own.some(isSold) ? '\n\n' : '\n')].join('\n\n')
  })
  const text = [document.info.description, ...groups].join('\n\n')
  const headings = [...text.matchAll(/^###? (.+)$/gm)]
  return pageFrame({
    title: `${document.info.title} API`,
    sellerName: document.info.title,
    tagline: 'API reference',
    root: '',
    body: html`<main id="main">
      <h1>${document.info.summary}</h1>
      <p class="muted">
        Version ${document.info.version}, also as <a href="openapi.json">openapi.json</a> and
        <a href="llms.txt">llms.txt</a>.
      </p>
      <nav aria-label="Contents">
        <details>
          <summary>Contents</summary>
          <ul>
            ${headings.map(([, heading = '']) => html`<li><a href="#${anchorOf(heading)}">${heading}</a></li>`)}
          </ul>
        </details>
      </nav>
      ${markdown(text)}
    </main>`,
  })
}

function productText(operation: Operation, parameters: string): string {
  const { path, method, summary, description, responses } = operation
  const [content] = Object.values(responses['200']?.content ?? {})
  const answer = content?.example ?? null
  const errors = Object.keys(responses).filter((status) => status !== '200')
  return [
    `### ${summary}`,
    `\`${method} ${path}\``,
    `${description} [Buy it in the browser](${payPathOf(path).slice(1)}).`,
    method === 'GET' || method === 'DELETE' ? 'Path and query:' : 'Path and body:',
    parameters
      .split(' · ')
      .map((line) => `- ${line}`)
      .join('\n'),
    ...operation['x-codeSamples'].map(({ label, source }) => fence(`sh ${label}`, source)),
    fence('json Answer', typeof answer === 'string' ? answer : JSON.stringify(answer, undefined, 2)),
    `Errors: ${errors.join(', ')}. See [Errors](#errors).`,
  ].join('\n\n')
}

function fence(info: string, code: string): string {
  return `\`\`\`\`${info}\n${code}\n\`\`\`\``
}

function operationLine({ path, method, summary, description, parameters }: Operation): string {
  const query = parameters.flatMap((parameter) =>
    'name' in parameter && parameter.in === 'query' ? [` \`${parameter.name}\`: ${parameter.description}`] : [],
  )
  return `- \`${method} ${path}\`: ${[`${summary}.`, description].join(' ').trim()}${query.join(';')}`
}
