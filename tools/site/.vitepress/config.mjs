// The site: README and docs/ as they are, built by VitePress. SITE_BASE is the path that it is served below.
import { defineConfig } from 'vitepress'
import { anchor, pages, published, root, sidebar, target } from '../pages.mjs'

export default defineConfig({
  title: 'stopgate',
  description: 'Claude Code may stop when your checks pass',
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'pages', // a copy, made by scripts/site: vue is not found from outside of this folder
  outDir: root + '/site',
  cacheDir: root + '/tools/site/node_modules/.cache',
  rewrites: Object.fromEntries(pages.filter((page) => published(page) !== page).map((page) => [page, published(page)])),
  markdown: { config: followLinks, anchor: { slugify: anchor } },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Start', link: '/docs/start' },
      { text: 'Recipes', link: '/docs/recipes/' },
      { text: 'Reference', link: '/docs/reference/' },
      { text: 'Troubleshooting', link: '/docs/troubleshooting' },
    ],
  },
})

// followLinks changes links and pictures before VitePress looks at them.
function followLinks(md) {
  md.core.ruler.push('follow-links', (state) => {
    const page = source(state.env.relativePath)
    for (const block of state.tokens) {
      block.content = dotted(block)
      for (const token of block.children ?? []) {
        token.content = dotted(token)
        if (token.type === 'link_open') token.attrSet('href', target(page, token.attrGet('href')))
      }
    }
  })
}

// dotted is a piece of HTML whose pictures are found: Vue takes a path that does not begin with a dot for a package.
const dotted = ({ type, content }) =>
  type.startsWith('html_') ? content.replace(/(<img\s[^>]*?\bsrc=")(?![./]|[a-z]+:)/g, '$1./') : content

const source = (path) => pages.find((page) => page === path || published(page) === path) ?? path
