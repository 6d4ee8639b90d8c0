// The docs as a site. Pages are those of docs/, unchanged; what they link to outside of it is the project's on GitHub, and must be
// there. VitePress itself refuses links to pages that are not.
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const project = resolve(import.meta.dirname, '../..')
const docs = join(project, 'docs')
/** Where a release is published (see scripts/release.ts). A site that is built from a checkout links to no repository. */
const { version, distribution } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly distribution?: { readonly repository: string; readonly site: string }
}
const repository = distribution && `https://github.com/${distribution.repository}`
const source = repository && `${repository}/blob/v${version}`

/** Where the schema of the configuration is, for editors everywhere. */
const schema = 'catalog-bot.schema.json'

/** The address of what a page links to, where that is no page. */
function addressOf(href: string, page: string): string {
  if (/^(?:[a-z]+:|#|\/)/i.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = resolve(dirname(join(docs, page)), decodeURIComponent(path))
  if (target.startsWith(docs) && target.endsWith('.md')) return href
  if (!existsSync(target)) throw new Error(`${page} links to ${href}, which is not there`)
  if (target === join(docs, schema)) return `/${schema}`
  return source === undefined
    ? '#'
    : `${source}/${relative(project, target)}${anchor === undefined ? '' : `#${anchor}`}`
}

export default defineConfig({
  title: 'catalog-bot',
  description: "Checks, merges and publishes Operator catalogs in OLM's file-based format",
  base: distribution === undefined ? '/' : new URL(distribution.site).pathname,
  srcDir: '../docs',
  outDir: './.vitepress/dist',
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'rules/README.md': 'rules/index.md' },
  ignoreDeadLinks: [new RegExp(`/${schema}$`)],
  vite: {
    build: { chunkSizeWarningLimit: 4000 },
    plugins: [
      {
        // The pages lie outside of this package: what they are made into finds Vue from here.
        name: 'vue-of-the-site',
        enforce: 'pre',
        resolveId(wanted, importer, options) {
          if (importer?.startsWith(docs) !== true || !/^vue(?:\/|$)/.test(wanted)) return undefined
          return this.resolve(wanted, fileURLToPath(import.meta.url), { ...options, skipSelf: true })
        },
      },
    ],
  },
  markdown: {
    config(markdown) {
      // Pages are Markdown for GitHub first: what looks like an element or a Vue expression is text, and comments are for CI.
      markdown.set({ html: false })
      markdown.core.ruler.before('normalize', 'comments', (state) => {
        state.src = state.src.replace(/^[ \t]*<!-- .* -->$/gm, '')
      })
      const plain = (text = '') => markdown.utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;')
      markdown.renderer.rules.text = (tokens, at) => plain(tokens[at]?.content)
      markdown.renderer.rules.code_inline = (tokens, at) => `<code>${plain(tokens[at]?.content)}</code>`
      markdown.core.ruler.after('inline', 'links-out', (state) => {
        const page = (state.env as { relativePath?: string }).relativePath ?? ''
        for (const token of state.tokens)
          for (const child of token.children ?? []) {
            const href = child.type === 'link_open' ? child.attrGet('href') : null
            if (href !== null) child.attrSet('href', addressOf(href, page))
          }
      })
    },
  },
  themeConfig: {
    nav: [
      { text: 'Author', link: '/author' },
      { text: 'Install', link: '/start' },
      { text: 'Operate', link: '/operating' },
      { text: 'Rules', link: '/rules/' },
    ],
    sidebar: [
      {
        text: 'For authors',
        items: [
          { text: 'In five minutes', link: '/author' },
          { text: 'The command line', link: '/command-line' },
          { text: 'Rules', link: '/rules/' },
          { text: 'Whether a package installs', link: '/install' },
          { text: 'Bundle directories', link: '/bundle-directories' },
          { text: 'In a workflow', link: '/action' },
        ],
      },
      {
        text: 'For maintainers',
        items: [
          { text: 'Install in five minutes', link: '/start' },
          { text: 'Who may do what', link: '/policy' },
          { text: 'Configuration', link: '/configuration' },
          { text: 'How it merges', link: '/landing' },
          { text: 'Trying it on a cluster', link: '/cluster' },
          { text: 'Releases of bundles', link: '/releases' },
          { text: 'Publishing', link: '/publishing' },
          { text: 'Without a server', link: '/once' },
        ],
      },
      {
        text: 'For operators',
        items: [
          { text: 'Operating', link: '/operating' },
          { text: "GitHub's limits", link: '/budget' },
          { text: 'Status pages', link: '/pages' },
          { text: 'Backup, upgrade, keys, sizing', link: '/maintenance' },
          { text: 'Proxies and Enterprise Server', link: '/proxies' },
          { text: 'Threats', link: '/threats' },
        ],
      },
      {
        text: 'More',
        items: [
          { text: 'Words', link: '/glossary' },
          { text: 'From a program', link: '/api' },
          { text: 'The simulator', link: '/simulator' },
          { text: 'What a merge costs', link: '/request-costs' },
          { text: 'Deliberate bugs', link: '/mutants' },
        ],
      },
    ],
    search: { provider: 'local' },
    ...(repository !== undefined && {
      socialLinks: [{ icon: 'github', link: repository }],
      editLink: { pattern: `${repository}/edit/main/docs/:path` },
    }),
    footer: { message: `catalog-bot ${version}` },
  },
  buildEnd({ outDir }) {
    copyFileSync(join(docs, schema), join(outDir, schema))
  },
})
