// The pages of the site: where they are, what they are called, and what a link to one becomes.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { sections } from './sections.mjs'

export const root = join(import.meta.dirname, '..', '..')
const source = 'https://github.com/stopgate/stopgate'

// pages are all that is published, by their paths from the root.
export const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...below('docs')]

function below(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      return entry.isDirectory() ? below(path) : path.endsWith('.md') ? [path] : []
    })
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
}

function rank(page) {
  return page.endsWith('/README.md') ? 0 : 1
}

// published is the name of a page in the site: a README is the index of its folder.
export const published = (page) => page.replace(/(^|\/)README\.md$/, '$1index.md')

function title(page) {
  const heading = readFileSync(join(root, page), 'utf8').match(/^# +(.+)$/m)
  return page === 'README.md' ? 'Overview' : heading[1].replace(/[`*]/g, '')
}

const item = (page) => ({ text: title(page), link: '/' + published(page).replace(/(\/|^)index\.md$/, '$1').replace(/\.md$/, '') })

// sidebar has every page once.
export function sidebar() {
  const left = new Set(pages)
  const take = (entry) => {
    const found = pages.filter((page) => left.has(page) && (page === entry || page.startsWith(entry + '/')))
    found.forEach((page) => left.delete(page))
    return found.map(item)
  }
  const groups = sections.map((s) => group(s, s.entries.flatMap(take)))
  return left.size ? [...groups, { text: 'More', items: [...left].map(item) }] : groups
}

// group is a section of the sidebar: a folder with its README as the page of its own, or a single page.
function group({ title, collapsed = false }, items) {
  if (items.length === 1) return { text: title, link: items[0].link }
  if (!items[0].link.endsWith('/') || items[0].link === '/') return { text: title, collapsed, items }
  return { text: title, collapsed, link: items[0].link, items: items.slice(1) }
}

// anchor is the name of a heading, as GitHub makes it.
export const anchor = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')

// target is what a link of a page becomes: links between pages stay, and those to other files lead to the repository.
export function target(page, href) {
  const [path, fragment] = href.split('#')
  if (path === '' || /^[a-z]+:/.test(path)) return href
  const file = posix.join(dirname(page), decodeURI(path)).replace(/\/$/, '')
  const rest = fragment ? '#' + fragment : ''
  if (pages.includes(file)) return published(path.startsWith('.') ? path : './' + path) + rest
  if (pages.includes(file + '/README.md')) return path.replace(/\/?$/, '/') + 'index.md' + rest
  if (!existsSync(join(root, file))) throw new Error(`${page}: ${href} leads nowhere`)
  const kind = statSync(join(root, file)).isDirectory() ? 'tree' : 'blob'
  return `${source}/${kind}/main/${file}${rest}`
}
