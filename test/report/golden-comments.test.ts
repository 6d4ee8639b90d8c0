// Compares the rendered comments with golden/, and checks that they are short, free of repetition, and readable in a
// browser in light and dark mode. To update the files, run
// `UPDATE_GOLDEN=1 npm test -- test/report/golden-comments.test.ts` and review the diff.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { marked } from 'marked'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../browser.ts'
import { reportSkippedTest } from '../left-out.ts'
import { goldenCommentRenderers } from './render-golden-comments.ts'

const goldenCommentsDirectory = join(import.meta.dirname, 'golden')
const renderedComments = Object.entries(goldenCommentRenderers).map(([name, make]) => [name, make()] as const)

/** Returns the text visible without scrolling or unfolding: no folded text, diagrams, or URLs. */
function extractVisibleText(markdown: string): string {
  return markdown
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<details><summary>([^]*?)<\/summary>[^]*?<\/details>/g, '$1')
    .replace(/```mermaid\n[^]*?\n```/g, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/<\/?sub>|[`*#>|[\]]|!CAUTION/g, ' ')
}
const splitWords = (text: string) => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word))

describe.each(renderedComments)('%s', (name, markdown) => {
  test('matches the golden file', () => {
    const path = join(goldenCommentsDirectory, `${name}.md`)
    if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(path, `${markdown}\n`)
    expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(`${markdown}\n`)
  })
  test('has at most 130 words on the first screen', () => {
    expect(splitWords(extractVisibleText(markdown)).length).toBeLessThanOrEqual(130)
  })
  test('repeats no sentence and contains no internal term', () => {
    const sentences = extractVisibleText(markdown)
      .split(/[.!?:]\s+|\n+/)
      .map((sentence) => splitWords(sentence).join(' '))
      .filter((sentence) => sentence.split(' ').length > 3)
    expect(sentences.filter((sentence, at) => sentences.indexOf(sentence) !== at)).toEqual([])
    expect(extractVisibleText(markdown)).not.toMatch(
      /\b(?:snapshot|verdict|epoch|permit|outcomes?|sweep|delivery|landing|landed|mint|coverage|unanswered)\b/i,
    )
  })
  test('links only to GitHub, and line and commit links match their text', () => {
    const links = [...markdown.matchAll(/\[(?<words>(?:`[^`]*`|[^\]`])*)\]\((?<address>[^)\s]*)\)/g)]
    for (const { groups: { words: label = '', address = '' } = {} } of links) {
      expect(new URL(address).origin).toBe('https://github.com')
      const line = /lines? (?<first>\d+)(?:–(?<last>\d+))?$/.exec(label)?.groups
      if (line)
        expect(address).toMatch(new RegExp(`#L${line['first']}${line['last'] ? `-L${line['last']}` : ''}$`))
      const commit = /^`(?<sha>[0-9a-f]{12})`$/.exec(label)?.groups?.['sha']
      if (commit !== undefined) expect(address).toContain(`/commit/${commit}`)
    }
  })
})

test('every golden file belongs to a comment', () => {
  expect(readdirSync(goldenCommentsDirectory).sort()).toEqual(
    renderedComments.map(([name]) => `${name}.md`).sort(),
  )
})

test('every subgraph of a diagram is drawn from bottom to top', () => {
  const drawn = renderedComments.flatMap(([, markdown]) => [
    ...markdown.matchAll(/```mermaid\n([^]*?)\n```/g),
  ])
  expect(drawn.length).toBeGreaterThan(3)
  for (const [source] of drawn) expect(source).toMatch(/\nsubgraph [^\n]*\ndirection BT\n/)
})

/** Approximates how GitHub renders a comment: alerts are block quotes with a title. */
function renderCommentPage(markdown: string): string {
  const html = marked
    .parse(markdown, { gfm: true, async: false })
    .replace(/<blockquote>\s*<p>\[!CAUTION\]\s*/g, '<blockquote class="caution"><p>')
  return `<article>${html}</article>`
}

const commentPageCss = `
:root { color-scheme: light dark; }
body { margin: 0; background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #f0f6fc); font: 14px/1.5 sans-serif; }
article { width: 780px; padding: 16px; box-sizing: border-box; }
pre, table { overflow: auto; display: block; max-width: 100%; }
code, pre { background: light-dark(#f6f8fa, #151b23); font: 12px monospace; overflow-wrap: anywhere; }
a { color: light-dark(#0969da, #4493f8); }
blockquote { margin: 0; padding: 0 1em; border-left: 4px solid light-dark(#d1d9e0, #3d444d); }
blockquote.caution { border-color: light-dark(#cf222e, #da3633); }
blockquote.caution::before { content: 'Caution'; color: light-dark(#cf222e, #f85149); font-weight: 600; }
`

/** Returns the contrast ratio of two colors, by the formula of the Web Content Accessibility Guidelines. */
function computeContrastRatio(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(computeLuminance).sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [...colour.matchAll(/\d+/g)].map(([number]) => {
    const part = Number(number) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

interface RenderedComment {
  readonly heading: string
  readonly text: string
  readonly alerts: number
  readonly wide: boolean
  readonly links: readonly (readonly [words: string, address: string])[]
  /** The text color and the background color. */
  readonly colours: readonly [string, string]
}

/** Runs in the page. */
const pageInspectionScript = `[...document.querySelectorAll('article')].map((article) => ({
  heading: article.querySelector('h3')?.innerText ?? '',
  text: article.innerText,
  alerts: article.querySelectorAll('blockquote.caution').length,
  wide: article.scrollWidth > article.clientWidth,
  links: [...article.querySelectorAll('a')].map(({ textContent, href }) => [textContent.trim(), href]),
  colours: [getComputedStyle(article).color, getComputedStyle(document.body).backgroundColor],
}))`

describe('in a browser', () => {
  const withBrowser = hasBrowser ? test : test.skip
  if (!hasBrowser) reportSkippedTest('chromium')
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    if (!hasBrowser) return
    browser = await launchBrowser()
    page = await browser.newPage({ viewport: { width: 800, height: 900 } })
    const articles = renderedComments.map(([, markdown]) => renderCommentPage(markdown)).join('')
    await page.setContent(`<!doctype html><meta charset="utf-8"><style>${commentPageCss}</style>${articles}`)
  })
  afterAll(() => browser?.close())

  withBrowser.each(['light', 'dark'] as const)(
    'every comment is readable in %s mode',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme })
      if (process.env['GOLDEN_PICTURES'] !== undefined)
        await page.screenshot({
          path: join(process.env['GOLDEN_PICTURES'], `${colorScheme}.png`),
          fullPage: true,
        })
      const rendered = await page.evaluate<readonly RenderedComment[]>(pageInspectionScript)
      expect(rendered).toHaveLength(renderedComments.length)
      rendered.forEach(({ heading, text, alerts, wide, links, colours }, at) => {
        const [name, markdown = ''] = renderedComments[at] ?? []
        expect({ name, heading: heading.length > 10, wide }).toEqual({ name, heading: true, wide: false })
        // No raw markup is visible.
        expect(text.replace(/flowchart BT[^]*?linkStyle.*/g, '')).not.toMatch(/\*\*|\]\(|\[!|<\/?\w+>/)
        expect(alerts).toBe(markdown.split('[!CAUTION]').length - 1)
        for (const link of links) expect(link).not.toContain('')
        expect(computeContrastRatio(...colours)).toBeGreaterThan(7)
      })
    },
  )
})
