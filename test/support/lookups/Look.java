import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Prints, for each hostname, its addresses or the exception. */
class Look {
  public static void main(String[] hosts) throws InterruptedException {
    Thread[] threads = Arrays.stream(hosts).map(host -> new Thread(() -> System.out.println(host + "\t" + look(host))))
        .toArray(Thread[]::new);
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }

  static String look(String host) {
    try {
      return Arrays.stream(InetAddress.getAllByName(host)).map(InetAddress::getHostAddress).sorted()
          .collect(Collectors.joining(", "));
    } catch (UnknownHostException e) {
      return e.toString();
    }
  }
}
