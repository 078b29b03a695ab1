import { z } from 'zod'
import { picturePixelsMax } from '../../rendering/capture.ts'
import { findUrlProblem } from '../../outbound/urlGuard.ts'
import { pageOptions, selector } from './pageOptions.ts'
import { pictureSize } from './pictureSize.ts'
import { defineProduct, type ProductHandler } from '../../product/productDefinition.ts'
import type { DemoCaller } from '../../product/productFacts.ts'
import { openRendered, type RenderDeps } from './openRendered.ts'
import { bounded, boundedInteger, oneOf, yesOrNo } from '../../product/text.ts'

/**
 * Returns the type of a target URL. It checks only the URL, because the host is checked again when the connection is
 * opened.
 */
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

// Common viewport sizes of each kind of device, with the typical scale and touch support.
const devices = {
  desktop: { width: 1_280, height: 720, deviceScale: 1, isMobile: false },
  tablet: { width: 820, height: 1_180, deviceScale: 2, isMobile: true },
  phone: { width: 390, height: 844, deviceScale: 2, isMobile: true },
} as const

const pictureTypes = ['png', 'jpeg', 'webp'] as const

const parametersWith = (allowHosts: readonly string[]) =>
  z
    .strictObject({
      url: targetUrl(allowHosts),
      width: boundedInteger(320, 3_840).exactOptional().meta({ default: 1_280, description: 'CSS pixels' }),
      height: boundedInteger(240, 2_160).exactOptional().meta({ default: 720, description: 'CSS pixels' }),
      fullPage: yesOrNo.default(false).meta({ description: 'to capture the whole page' }),
      device: oneOf(['desktop', 'tablet', 'phone'])
        .exactOptional()
        .meta({ description: 'sets the width, height, scale and touch that the order does not name' }),
      deviceScale: bounded(1, 3)
        .exactOptional()
        .meta({ default: 1, description: 'pixels of the picture per CSS pixel' }),
      element: selector.exactOptional().meta({ description: 'CSS selector; only the first such element is captured' }),
      type: oneOf(pictureTypes).exactOptional().meta({ default: 'png', description: 'of the picture' }),
      quality: boundedInteger(1, 100).exactOptional().meta({ description: 'of jpeg and webp; 80 without it' }),
      ...pageOptions,
    })
    .refine(({ quality, type = 'png' }) => quality === undefined || type !== 'png', {
      path: ['quality'],
      message: 'is for jpeg and webp; a png has no quality',
    })
    .refine(({ element, fullPage }) => element === undefined || !fullPage, {
      path: ['element'],
      message: 'cannot be combined with fullPage; send one of them',
    })
    .transform(({ device = 'desktop', type, ...order }) => ({
      ...presetOf(device),
      ...order,
      ...(type === undefined ? {} : { format: type }),
    }))
    .refine(({ width, height, deviceScale = 1 }) => width * height * deviceScale ** 2 <= picturePixelsMax, {
      path: ['deviceScale'],
      message: `must make a picture of at most ${picturePixelsMax / 1e6} million pixels with this width and height`,
    })

/**
 * Returns the viewport of a device. For a desktop, the default scale and touch are omitted, so that orders without a
 * device stay unchanged.
 */
function presetOf(device: keyof typeof devices) {
  const { width, height, ...touch } = devices[device]
  return device === 'desktop' ? { width, height } : { width, height, ...touch }
}

const answer = z.object({
  imageUrl: z.string().meta({ format: 'uri', description: 'address of the picture, until it expires' }),
  width: z.number().meta({ description: 'pixels' }),
  height: z.number().meta({ description: 'pixels' }),
  format: z.string().meta({ description: 'png, jpeg or webp' }),
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
  return openRendered(deps, {
    parameters: parametersWith(deps.allowHosts),
    render: (order, job) => deps.renderer.screenshot(order, job),
    contentType: ({ format = 'png' }) => `image/${format}`,
    urlField: 'imageUrl',
    describe: async (bytes, { format = 'png' }) => ({ ...pictureSize(bytes, format), format }),
  })
}

async function checkDemo({ imageUrl, ...stated }: z.infer<typeof answer>, caller: DemoCaller): Promise<string> {
  const { contentType, bytes } = await caller.fetchFile(imageUrl)
  caller.expect(contentType === 'image/png' && stated.format === 'png', `the picture is image/png, not ${contentType}`)
  const { width, height, colorCount } = caller.readPicture(bytes)
  caller.expect(
    width === viewport.width && height === viewport.height && stated.width === width && stated.height === height,
    `the picture has ${viewport.width} by ${viewport.height} pixels, not ${width} by ${height}`,
  )
  caller.expect(colorCount > 1, 'the picture shows something')
  return `a picture of ${width} by ${height} pixels, ${Math.ceil(bytes.length / 1024)} KB, ${imageUrl}`
}
