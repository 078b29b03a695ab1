import { plain, type SampleProvider } from './sampleProvider.ts'

/** Screenshots must work without internet, so the page loads no other resources. */
export const samplePage: SampleProvider = ({ path }) =>
  path === '/' ? plain(page, 200, 'text/html; charset=utf-8') : plain('404 Not Found', 404)

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sample page</title>
<style>
  body { margin: 0; font: 20px sans-serif; background: #f5f1e6; color: #222 }
  main { max-width: 640px; margin: 80px auto; padding: 40px; background: #fff; border-top: 12px solid #2a6f4e }
</style>
</head>
<body><main><h1>Sample page</h1><p>Served by local mode of Tollbook, so that there is something to take a picture of.</p></main></body>
</html>
`
