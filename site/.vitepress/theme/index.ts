// The default theme with a footer. VitePress's own footer is hidden on every page that has a sidebar.
import { useData, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'

const footerStyle = 'margin-top: 2rem; text-align: center; font-size: 0.8rem; color: var(--vp-c-text-2)'

export default {
  extends: DefaultTheme,
  Layout: () => {
    const { version, developers } = useData().theme.value as {
      readonly version: string
      readonly developers: string
    }
    const link = h('a', { href: withBase(developers) }, 'Developer documentation')
    return h(DefaultTheme.Layout, null, {
      'doc-after': () => h('footer', { style: footerStyle }, [`catalog-bot ${version} · `, link]),
    })
  },
}
