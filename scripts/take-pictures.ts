// Takes the pictures of the status pages in docs/pictures, of what the pages' tests look at. `npm run pictures`; needs Chromium.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../test/browser.ts'
import { furnishPages } from '../test/app/pages/furnish-pages.ts'
import { openPagesWorld } from '../test/app/pages/pages-world.ts'

const folder = join(import.meta.dirname, '..', 'docs', 'pictures')
const one = '/r/coast/operators'
const pages = [
  ['repositories', '/'],
  ['queue', one],
  ['merged-pull', `${one}/pull/11`],
  ['blocked-pull', `${one}/pull/15`],
  ['catalogs', `${one}/catalog`],
  ['catalog', `${one}/catalog/v4.20`],
  ['package', `${one}/catalog/v4.20/lighthouse`],
  ['overview', `${one}/overview`],
  ['all-overview', '/overview'],
  ['merged', '/merged'],
  ['rules', '/rules'],
  ['rule', '/rules/several-heads'],
  ['nothing', '/r/coast/nothing-here'],
] as const

mkdirSync(folder, { recursive: true })
const world = await openPagesWorld()
const browser = await openBrowser()
try {
  await furnishPages(world.store, { isTame: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1000, height: 640 } })
    const page = await context.newPage()
    for (const [name, path] of pages) {
      // One of each in the dark is enough for the docs.
      if (colorScheme === 'dark' && name !== 'queue') continue
      await page.goto(`${world.address}${path}`)
      await page.screenshot({ path: join(folder, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`) })
    }
    await context.close()
  }
  const narrow = await browser.newPage({ viewport: { width: 380, height: 640 } })
  await narrow.goto(`${world.address}${one}`)
  await narrow.screenshot({ path: join(folder, 'queue-narrow.png') })
} finally {
  await browser.close()
  await world.close()
}
