// What the package for authors goes without: the App's client for GitHub, which brings Probot, a server (`doctor` asks with a
// token alone there), and zod's words in other languages than English.
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

const sentence =
  'To ask as the App, run doctor where the App runs; here a token asks: unset APP_ID, and use --app and GITHUB_TOKEN.'

export function leaveOutOfAuthors(sources: string): Plugin {
  const client = join(sources, 'github', 'github-app.js')
  return {
    name: 'leave-out-of-authors',
    setup(building) {
      building.onLoad({ filter: /github-app\.js$/ }, ({ path }) =>
        path === client
          ? { contents: `export function openGitHubApp() { throw new Error(${JSON.stringify(sentence)}) }` }
          : undefined,
      )
      building.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
        contents: "export { default as en } from './en.js'",
      }))
    },
  }
}
