import { z } from 'zod'
import { findUrlProblem } from '../outbound/urlGuard.ts'
import { pngSize } from './pngSize.ts'
import { defineProduct, type ProductHandler } from './productDefinition.ts'
import type { DemoBuyer } from './productFacts.ts'
import { type RenderDeps, renderOutcome, whyNotRendering } from './renderOutcome.ts'
import { integer } from './text.ts'

/** A target that may be tried. The guard at the connection decides finally. */
export function targetUrl(allowHosts: readonly string[]) {
  return z
    .string({
      error: ({ input }) =>
        input === undefined ? 'is required: an http or https URL' : 'must be an http or https URL',
    })
    .superRefine((value, context) => {
      const problem = findUrlProblem(value, allowHosts)
      if (problem !== undefined) context.addIssue(problem)
    })
    .meta({ description: 'an http or https URL on port 80 or 443, of a public host', format: 'uri', maxLength: 2_048 })
}

const parametersWith = (allowHosts: readonly string[]) =>
  z.strictObject({
    url: targetUrl(allowHosts),
    width: integer({ min: 320, max: 3_840, default: 1_280 }).meta({ description: 'pixels' }),
    height: integer({ min: 240, max: 2_160, default: 720 }).meta({ description: 'pixels' }),
    fullPage: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .meta({ description: 'to capture the whole page' }),
  })

const answer = z.object({
  imageUrl: z.string().meta({ format: 'uri', description: 'address of the picture, until it expires' }),
  width: z.number().meta({ description: 'pixels' }),
  height: z.number().meta({ description: 'pixels' }),
  format: z.string().meta({ description: 'png' }),
})

const viewport = { width: 800, height: 600 }

export const screenshot = defineProduct({
  path: '/api/tools/screenshot',
  method: 'POST',
  summary: 'Picture of a web page',
  priceMicroUsd: 50_000n,
  parameters: parametersWith([]),
  answer,
  example: {
    order: { url: 'https://example.com', width: 1_280, height: 720, fullPage: false },
    answer: {
      imageUrl: 'https://tollbook.example/artifacts/kOAgmleLkUamm7.png',
      width: 1_280,
      height: 720,
      format: 'png',
    },
  },
  providers: [],
  demo: {
    order: ({ pageUrl }) => ({ url: pageUrl, ...viewport }),
    notice: 'a browser is started for the next two, which takes some seconds the first time …',
    check: checkDemo,
  },
  open: openScreenshot,
})

function openScreenshot(deps: RenderDeps): ProductHandler<z.infer<ReturnType<typeof parametersWith>>> {
  const { clock, renderer, artifacts, artifactUrl, allowHosts } = deps
  return {
    parameters: parametersWith(allowHosts),
    whyUnavailable: () => whyNotRendering(deps, true),
    whyUndeliverable: () => whyNotRendering(deps, false),
    deliver: (order, customer) =>
      renderOutcome(
        clock,
        () => renderer.screenshot(order, customer),
        async (bytes) => {
          const { name, expiresAt } = await artifacts.keep('image/png', bytes)
          return { data: { imageUrl: artifactUrl(name), ...pngSize(bytes), format: 'png' }, expiresAt }
        },
      ),
  }
}

async function checkDemo({ imageUrl, ...stated }: z.infer<typeof answer>, buyer: DemoBuyer): Promise<string> {
  const { contentType, bytes } = await buyer.fetchFile(imageUrl)
  buyer.expect(contentType === 'image/png' && stated.format === 'png', `the picture is image/png, not ${contentType}`)
  const { width, height, colorCount } = buyer.readPicture(bytes)
  buyer.expect(
    width === viewport.width && height === viewport.height && stated.width === width && stated.height === height,
    `the picture has ${viewport.width} by ${viewport.height} pixels, not ${width} by ${height}`,
  )
  buyer.expect(colorCount > 1, 'the picture shows something')
  return `a picture of ${width} by ${height} pixels, ${Math.ceil(bytes.length / 1024)} KB, ${imageUrl}`
}
