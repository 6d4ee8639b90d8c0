// Takes the screenshots of the status pages in docs/pictures, with the data of the page tests. `npm run pictures`
// requires Chromium.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launchBrowser } from '../test/browser.ts'
import { fillPagesStore } from '../test/web/server/fill-pages-store.ts'
import { openPagesFixture } from '../test/web/server/pages-fixture.ts'

const picturesFolder = join(import.meta.dirname, '..', 'docs', 'pictures')
const repositoryPagePath = '/r/coast/operators'
const pagesToCapture = [
  ['repositories', '/'],
  ['queue', repositoryPagePath],
  ['merged-pull', `${repositoryPagePath}/pull/11`],
  ['blocked-pull', `${repositoryPagePath}/pull/15`],
  ['catalogs', `${repositoryPagePath}/catalog`],
  ['catalog', `${repositoryPagePath}/catalog/v4.20`],
  ['package', `${repositoryPagePath}/catalog/v4.20/lighthouse`],
  ['overview', `${repositoryPagePath}/overview`],
  ['all-overview', '/overview'],
  ['merged', '/merged'],
  ['rules', '/rules'],
  ['rule', '/rules/several-heads'],
  ['nothing', '/r/coast/nothing-here'],
] as const

mkdirSync(picturesFolder, { recursive: true })
const pagesFixture = await openPagesFixture()
const browser = await launchBrowser()
try {
  await fillPagesStore(pagesFixture.store, { isTame: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width: 1000, height: 640 } })
    const page = await context.newPage()
    for (const [name, path] of pagesToCapture) {
      // One dark screenshot is enough for the docs.
      if (colorScheme === 'dark' && name !== 'queue') continue
      await page.goto(`${pagesFixture.url}${path}`)
      await page.screenshot({
        path: join(picturesFolder, `${name}${colorScheme === 'dark' ? '-dark' : ''}.png`),
      })
    }
    await context.close()
  }
  const narrow = await browser.newPage({ viewport: { width: 380, height: 640 } })
  await narrow.goto(`${pagesFixture.url}${repositoryPagePath}`)
  await narrow.screenshot({ path: join(picturesFolder, 'queue-narrow.png') })
} finally {
  await browser.close()
  await pagesFixture.close()
}
