import { escapeHtml, loadPageTemplate } from '../base/http/page.ts';

/** Content of an error page, as plain text; rendering escapes it. */
interface ErrorPage {
  status: number;
  heading: string;
  message: string;
  /** Links to served hostnames, and how many more exist. */
  served: { links: readonly { url: string; text: string }[]; more: number } | null;
}

/** Error pages for browsers. */
export interface ErrorPages {
  render(page: ErrorPage): string;
  contentSecurityPolicy: string;
}

/** @throws Error as `loadPageTemplate` */
export function loadErrorPages(directory: string): ErrorPages {
  const { contentSecurityPolicy, render } = loadPageTemplate(directory);
  return {
    contentSecurityPolicy,
    render: ({ status, heading, message, served }) =>
      render({
        ...{ heading, message },
        title: `${status} ${heading}`,
        corner: String(status),
        content: renderServed(served),
      }),
  };
}

function renderServed(served: ErrorPage['served']): string {
  if (served === null) return '';
  if (served.links.length === 0) return '<p>Nothing is served here yet. Create a project in Vivarium first.</p>';
  const items = served.links.map(({ url, text }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(text)}</a></li>`);
  const more = served.more > 0 ? `<p>And ${served.more} more.</p>` : '';
  return `<h2>Served here</h2>\n<ul>\n${items.join('\n')}\n</ul>\n${more}`;
}
