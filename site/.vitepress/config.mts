// The site, built from the pages in docs/. A page is the same file that GitHub shows, except for the pages of rules, which have
// all their examples. The build fails on a link to a missing page, file, or anchor.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import {
  developerSection,
  findBrokenSiteLinks,
  listSitePages,
  siteSections,
  slugifyHeading,
} from '../links.ts'

const projectRoot = resolve(import.meta.dirname, '../..')
const docsFolder = join(projectRoot, 'docs')
/** Set by a release (see scripts/release.ts). A site that is built from a checkout doesn't link to a repository. */
const { version, distribution } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly distribution?: { readonly repository: string; readonly site: string }
}
const repositoryUrl = distribution && `https://github.com/${distribution.repository}`
const sourceBaseUrl = repositoryUrl && `${repositoryUrl}/blob/v${version}`
const siteBasePath =
  distribution === undefined ? '/' : new URL(distribution.site).pathname.replace(/\/*$/, '/')

/** Editors read the JSON Schema of the configuration from the site. */
const configSchemaFileName = 'catalog-bot.schema.json'

/** The address for a link in a page. A file that is not part of the site is in the repository. */
function resolveHref(href: string, page: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = resolve(dirname(join(docsFolder, page)), decodeURIComponent(path))
  if (target === join(docsFolder, 'rules/README.md'))
    return `/rules/${anchor === undefined ? '' : `#${anchor}`}`
  if (target.startsWith(docsFolder) && target.endsWith('.md')) return href
  if (!existsSync(target)) throw new Error(`${page} links to ${href}, which does not exist`)
  if (target === join(docsFolder, configSchemaFileName)) return `/${configSchemaFileName}`
  return sourceBaseUrl === undefined
    ? '#'
    : `${sourceBaseUrl}/${relative(projectRoot, target)}${anchor === undefined ? '' : `#${anchor}`}`
}

/** The pages of rules with all examples, by ID. The project's own Node creates them, because they run its rules. */
function readFullRulePages(): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'rule-pages-'))
  try {
    const script = join(projectRoot, 'scripts/build/write-rule-pages.ts')
    execFileSync(process.execPath, ['--no-warnings', script, folder], { stdio: 'inherit' })
    return JSON.parse(readFileSync(join(folder, 'rule-pages.json'), 'utf8')) as Readonly<
      Record<string, string>
    >
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const fullRulePages = readFullRulePages()
const developerPages = listSitePages(docsFolder, developerSection)
const navigationSections = siteSections.map(({ title, ...section }) => ({
  text: title,
  items: [...listSitePages(docsFolder, { title, ...section })],
}))
const rulesNavigationItem = { text: 'Rules', link: '/rules/' }

export default defineConfig({
  title: 'catalog-bot',
  description: 'A GitHub App that validates, merges, and publishes OLM file-based catalogs',
  base: siteBasePath,
  srcDir: '../docs',
  outDir: './.vitepress/dist',
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'rules/README.md': 'rules/index.md' },
  ignoreDeadLinks: [new RegExp(`/${configSchemaFileName}$`)],
  vite: {
    build: { chunkSizeWarningLimit: 4000 },
    plugins: [
      {
        name: 'full-rule-pages',
        enforce: 'pre',
        load(id) {
          return dirname(id) === join(docsFolder, 'rules') ? fullRulePages[basename(id, '.md')] : undefined
        },
      },
      {
        // The pages are outside of this package, so the code that VitePress makes from them finds Vue only from here.
        name: 'resolve-vue',
        enforce: 'pre',
        resolveId(wanted, importer, options) {
          if (importer?.startsWith(docsFolder) !== true || !/^vue(?:\/|$)/.test(wanted)) return undefined
          return this.resolve(wanted, fileURLToPath(import.meta.url), { ...options, skipSelf: true })
        },
      },
    ],
  },
  markdown: {
    anchor: { slugify: slugifyHeading },
    config(markdown) {
      // Pages are written for GitHub. Text that looks like an element or a Vue expression is shown as text. Comments are for CI.
      markdown.set({ html: false })
      markdown.core.ruler.before('normalize', 'comments', (state) => {
        state.src = state.src.replace(/^[ \t]*<!-- .* -->$/gm, '')
      })
      markdown.inline.ruler.before('autolink', 'anchor-elements', (state, isSilent) => {
        const [element] = /^<a id="[\w-]+"><\/a>/.exec(state.src.slice(state.pos)) ?? []
        if (element === undefined) return false
        if (!isSilent) state.push('html_inline', '', 0).content = element
        state.pos += element.length
        return true
      })
      const plain = (text = '') => markdown.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;')
      markdown.renderer.rules.text = (tokens, at) => plain(tokens[at]?.content)
      markdown.renderer.rules.code_inline = (tokens, at) => `<code>${plain(tokens[at]?.content)}</code>`
      markdown.core.ruler.after('inline', 'link-addresses', (state) => {
        const page = (state.env as { relativePath?: string }).relativePath ?? ''
        for (const token of state.tokens)
          for (const child of token.children ?? []) {
            const href = child.type === 'link_open' ? child.attrGet('href') : null
            if (href !== null) child.attrSet('href', resolveHref(href, page))
          }
      })
    },
  },
  transformPageData(page) {
    // Pages that are generated from code have no edit link.
    if (page.relativePath.startsWith('reference/') && !page.relativePath.endsWith('glossary.md'))
      page.frontmatter['editLink'] = false
    // The order of the rules has no meaning.
    if (page.relativePath.startsWith('rules/')) page.frontmatter['prev'] = page.frontmatter['next'] = false
  },
  themeConfig: {
    nav: [
      ...navigationSections.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
      rulesNavigationItem,
    ],
    sidebar: {
      '/dev/': [{ text: 'For developers', items: [...developerPages] }],
      '/': [...navigationSections, rulesNavigationItem],
    },
    search: { provider: 'local' },
    ...(repositoryUrl !== undefined && {
      socialLinks: [{ icon: 'github', link: repositoryUrl }],
      editLink: { pattern: `${repositoryUrl}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    }),
    // For the footer (see theme/).
    ...{ version, developers: developerPages[0]?.link ?? '/' },
  },
  buildEnd({ outDir }) {
    copyFileSync(join(docsFolder, configSchemaFileName), join(outDir, configSchemaFileName))
    const broken = findBrokenSiteLinks(outDir, siteBasePath)
    if (broken.length > 0) throw new Error(`broken links:\n${broken.join('\n')}`)
  },
})
